#include "cli/workflow/pip_section.hpp"

#include "cli/environments.hpp"
#include "cli/given_words.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/manifest/environment_yml.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace gpkg::cli {
namespace {

using Sections = std::vector<PipSection>;

/// How much of what pip said an error can tell.
constexpr std::size_t kTailBytes = 16384;
constexpr std::size_t kTailLines = 12;

std::string_view without_quotes(std::string_view text) {
    const bool is_quoted = text.size() >= 2 && text.front() == text.back() &&
                           (text.front() == '"' || text.front() == '\'');
    return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// The file that a line "-r more.txt" or "--constraint=held.txt" names; nothing for other lines.
/// `option` is what stands before it.
std::string_view file_named(std::string_view line, std::string_view& option) {
    for (const std::string_view name : {"--requirement", "--constraint", "-r", "-c"}) {
        if (!line.starts_with(name)) continue;
        auto rest = line.substr(name.size());
        const bool is_long = name.starts_with("--");
        if (is_long && !rest.starts_with('=') && !rest.starts_with(' ')) continue;
        if (rest.starts_with('=')) rest.remove_prefix(1);
        option = name;
        return without_quotes(trim(rest));
    }
    return {};
}

/// That file, from the folder of the environment.yml; nothing for other lines, and where what is
/// named is a URL or a variable of pip's.
std::optional<fs::path> local_file_named(std::string_view line,
                                         const fs::path& folder,
                                         std::string_view& option) {
    const auto named = file_named(line, option);
    const bool is_place = named.find("://") != std::string_view::npos || named.starts_with("${");
    if (named.empty() || is_place) return std::nullopt;
    return (folder / named).lexically_normal();
}

/// A line of our requirements file. pip looks for files that one names beside the file itself, and
/// for all else where it runs, which is the folder of the environment.yml.
std::string requirement_line(std::string_view requirement, const fs::path& folder) {
    const auto line = trim(requirement);
    std::string_view option;
    const auto file = local_file_named(line, folder, option);
    return file ? fmt::format("{} {}", option, shell_word(file->native())) : std::string(line);
}

/// Of what pip takes for a place: "./lib", ".[dev]", "wheels/x.whl", "~/lib", "file:lib".
bool is_place_beside(std::string_view text) {
    text = trim(text);
    if (const auto at = text.find(" @ "); at != std::string_view::npos)
        text = trim(text.substr(at + 3));
    if (text.starts_with("file:")) return !text.substr(5).starts_with('/');
    if (text.starts_with('/') || text.find("://") != std::string_view::npos) return false;
    const auto end = std::min(text.find_first_of(" ;["), text.size());
    text = text.substr(0, end);
    return text.starts_with('.') || text.starts_with('~') ||
           text.find('/') != std::string_view::npos || text.ends_with(".whl") ||
           text.ends_with(".tar.gz") || text.ends_with(".zip");
}

/// pip would look for them once the conda packages are in place.
Result<void> check_files(const PipSection& section) {
    for (const auto& requirement : section.requirements) {
        const auto line = trim(requirement);
        std::string_view option;
        if (!section.url.empty() && names_place_beside(line))
            return fail(ErrorKind::Usage,
                        fmt::format("{}: pip: {}: a local path cannot be used in a remote file",
                                    section.name(),
                                    printable(line)),
                        "download both and use the local copies");
        const auto file = local_file_named(line, section.file.parent_path(), option);
        std::error_code ignored;
        if (!file || fs::exists(*file, ignored)) continue;
        return fail(
            ErrorKind::NotFound,
            fmt::format(
                "{}: pip: {}: {} does not exist", section.name(), printable(line), file->native()));
    }
    return {};
}

/// The environment's own variables over those of this process.
std::map<std::string, std::string> variables_for_pip(const RunEnvironment& run, bool offline) {
    auto variables = current_environment();
    for (const auto& [name, value] : run.variables) {
        if (value)
            variables[name] = *value;
        else
            variables.erase(name);
    }
    // What lies in ~/.local counts neither as installed nor as a place to install to.
    variables["PYTHONNOUSERSITE"] = "1";
    variables["PIP_USER"] = "0";
    variables["PIP_REQUIRE_VIRTUALENV"] = "0";
    variables["PIP_NO_INPUT"] = "1";  // its input is empty
    if (offline) variables["PIP_NO_INDEX"] = "1";
    return variables;
}

/// Ends in an exit status; `tail` is what pip said last.
Result<int> run_pip(Context& context,
                    const fs::path& prefix,
                    const PipSection& section,
                    bool offline,
                    std::string& tail) {
    const auto folder = section.file.parent_path();
    GPKG_TRY(const auto temporary, TemporaryFolder::make(folder_for_temporary()));
    std::string text;
    for (const auto& requirement : section.requirements)
        text += requirement_line(requirement, folder) + "\n";
    const auto file = temporary.path() / "requirements.txt";
    GPKG_CHECK(write_file_atomically(file, text));

    // By its path: where the package `python` brings no such program, PATH would give another's.
    const auto python = prefix / "bin/python";
    ActivateOptions how;
    how.folders = environment_folders(context.config);
    how.change_prompt = false;
    std::vector<std::string> words{python.native(), "-m", "pip", "install", "-r", file.native()};
    if (section.dependencies == PipSection::Dependencies::Leave) words.emplace_back("--no-deps");
    if (section.upgrade) words.emplace_back("--upgrade");
    GPKG_TRY(const auto run, run_environment(prefix, context.env, words, how));
    for (const auto& warning : run.warnings) context.out.warn(warning);
    ProcessCommand command;
    command.arguments = run.command;
    command.environment = variables_for_pip(run, offline);
    command.folder = folder;
    command.output = [&](std::string_view said) {
        context.out.relay(said);
        tail += said;
        if (tail.size() > 2 * kTailBytes) tail.erase(0, tail.size() - kTailBytes);
    };
    command.cancelled = [&] { return context.stop.stop_requested(); };
    return run_command(command);
}

/// Whether what it means depends on the folder: "-e .", "./mine", "-r more.txt".
bool needs_folder(std::string_view requirement) {
    return requirement.starts_with('-') || requirement.starts_with('.');
}

/// A line of a requirements file as words of a command line. The words of options are parted.
std::string command_words(std::string_view requirement) {
    if (requirement.starts_with('-')) {
        if (const auto words = words_of_line(requirement)) return shell_words(*words);
    }
    return shell_word(requirement.substr(0, requirement.find(" --hash=")));
}

std::string command_words_of(const PipSection& section) {
    std::vector<std::string> words;
    if (section.upgrade) words.emplace_back("--upgrade");
    for (const auto& line : section.requirements) words.push_back(command_words(line));
    return fmt::format("{}", fmt::join(words, " "));
}

/// What does a section of a lock, for which there is no environment.yml.
std::string pip_command(const Context& context, const fs::path& prefix, const PipSection& section) {
    const auto& asked = section.requirements;
    auto text = fmt::format("gpkg run {}", target_words(context, prefix));
    if (std::any_of(asked.begin(), asked.end(), needs_folder))
        text += " --cwd " + shell_word(section.file.parent_path().native());
    text += " python -m pip install";
    if (section.dependencies == PipSection::Dependencies::Leave) text += " --no-deps";
    return text + " " + command_words_of(section);
}

/// What does the rest: the conda part of it finds everything in place.
std::string repeating_command(const Context& context,
                              const fs::path& prefix,
                              const Sections& sections,
                              std::size_t from) {
    if (sections[from].is_of_lock || !is_environment_yml(sections[from].file)) {
        std::vector<std::string> commands;
        for (auto place = from; place < sections.size(); ++place)
            commands.push_back(pip_command(context, prefix, sections[place]));
        return fmt::format("{}", fmt::join(commands, " && "));
    }
    auto text = fmt::format("gpkg {} {}",
                            sections[from].upgrade ? "env update" : "install",
                            target_words(context, prefix));
    for (auto place = from; place < sections.size(); ++place)
        text += " -f " + shell_word(sections[place].name());
    return text + given_sources(context.arguments);
}

/// `is_relayed`: people have read what pip said.
tl::unexpected<Error> failed(const PipSection& section,
                             bool is_relayed,
                             const fs::path& prefix,
                             int status,
                             const std::string& tail,
                             const std::string& command) {
    const auto said = last_lines(tail, kTailLines);
    Error error{ErrorKind::Io,
                fmt::format("{}: pip failed with exit status {}{}{}\nthe conda packages are "
                            "installed, the pip packages are not",
                            section.name(),
                            status,
                            said.empty() || is_relayed ? "" : ":\n",
                            is_relayed ? "" : said),
                "to retry: " + command,
                {}};
    error.details = json_text(nlohmann::json{{"prefix", prefix.native()},
                                             {"pip",
                                              {{"file", section.name()},
                                               {"exit_status", status},
                                               {"output", said},
                                               {"repeat", command}}}});
    return pass(std::move(error));
}

}  // namespace

bool names_place_beside(std::string_view line) {
    line = trim(line);
    for (const std::string_view option :
         {"-r", "-c", "-e", "-f", "--requirement", "--constraint", "--editable", "--find-links"}) {
        if (!line.starts_with(option)) continue;
        const auto rest = line.substr(option.size());
        if (option.starts_with("--") && !rest.starts_with(' ') && !rest.starts_with('=')) continue;
        const auto place = trim(rest.substr(rest.starts_with('=') ? 1 : 0));
        return !place.starts_with('/') && place.find("://") == std::string_view::npos;
    }
    return !line.starts_with('-') && is_place_beside(line);
}

Result<void> check_pip_sections(const Sections& sections,
                                const std::vector<PackageRecord>& records) {
    for (const auto& section : sections) GPKG_CHECK(check_files(section));
    const bool has_python = std::any_of(
        records.begin(), records.end(), [](const auto& record) { return record.name == "python"; });
    if (sections.empty() || has_python) return {};
    if (sections.front().is_of_lock)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: the pip packages need python, which the lock does not have",
                                sections.front().name()),
                    "add python to the request of the lock, and lock again");
    return fail(ErrorKind::NotFound,
                fmt::format("{}: the 'pip:' section needs python, which is not among the packages",
                            sections.front().name()),
                "add python to the dependencies");
}

void print_pip_sections(Output& out, const Sections& sections) {
    for (const auto& section : sections) {
        const auto& asked = section.requirements;
        const auto folder = std::ranges::any_of(asked, needs_folder)
                                ? ", in " + section.file.parent_path().native()
                                : std::string();
        out.print(fmt::format(
            "after that{}: pip install {}", folder, hide_secrets(command_words_of(section))));
    }
}

Result<void> install_pip_sections(Context& context,
                                  const fs::path& prefix,
                                  const Sections& sections,
                                  bool offline) {
    for (std::size_t place = 0; place < sections.size(); ++place) {
        const auto& section = sections[place];
        const auto command = repeating_command(context, prefix, sections, place);
        context.out.note(fmt::format("pip install {}", command_words_of(section)));
        std::string tail;
        const auto status = run_pip(context, prefix, section, offline, tail);
        if (!status) {
            auto error = status.error();
            error.message = fmt::format(
                "{}: pip: {}; the conda packages are installed", section.name(), error.message);
            error.hint = "to install them: " + command;
            error.tells_progress = true;
            return pass(std::move(error));
        }
        if (*status != 0)
            return failed(section, context.out.takes_notes(), prefix, *status, tail, command);
    }
    return {};
}

}  // namespace gpkg::cli
