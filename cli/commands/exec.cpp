// gpkg exec: runs a tool that no environment needs to have.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/inside.hpp"
#include "cli/workflow/one_off.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/manifest/inline_script.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/spec_text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <unistd.h>

namespace gpkg::cli {
namespace {

constexpr std::size_t kShownPrograms = 10;

struct ExecOptions {
    SourceOptions sources;
    std::vector<std::string> specs;  ///< in place of the package of the tool's name
    std::vector<std::string> with;
    std::vector<std::string> command;  ///< for --help alone, as in run
    bool anew = false;
};

/// A program of a requested package.
struct Program {
    std::string name;
    std::string package;
};

/// Those of the requested packages, by name.
std::vector<Program> programs_of(const std::vector<PrefixRecord>& records,
                                 const std::vector<MatchSpec>& specs) {
    constexpr std::string_view kFolder = "bin/";
    std::vector<Program> programs;
    for (const auto& record : records) {
        const bool is_requested = std::ranges::any_of(
            specs, [&](const auto& spec) { return spec.name == record.name(); });
        for (const auto& file : record.files) {
            if (is_requested && file.starts_with(kFolder))
                programs.push_back({file.substr(kFolder.size()), record.name()});
        }
    }
    std::ranges::sort(programs, {}, &Program::name);
    return programs;
}

/// "the package contains f2py; to run one: gpkg exec --spec numpy PROGRAM"
std::string hint_with_programs(const std::vector<Program>& programs, bool is_one_package) {
    std::vector<std::string> names;
    names.reserve(programs.size());
    for (const auto& program : programs) names.push_back(program.name);
    const auto& first = programs.front();
    const bool is_from_one = std::ranges::all_of(
        programs, [&](const Program& program) { return program.package == first.package; });
    const bool has_more = names.size() > kShownPrograms;
    if (has_more) names.resize(kShownPrograms);
    return fmt::format("{} {}{}; to run one: gpkg exec --spec {} {}",
                       is_one_package ? "the package contains" : "the packages contain",
                       fmt::join(names, ", "),
                       has_more ? ", ..." : "",
                       first.package,
                       is_from_one ? "PROGRAM" : first.name);
}

/// Libraries in Python: "gpkg exec --with requests --with numpy python x.py", where `command` is
/// "requests python x.py".
std::string command_in_python(const std::vector<MatchSpec>& specs,
                              const std::vector<std::string>& command) {
    std::string text = "gpkg exec";
    for (const auto& spec : specs) text += " --with " + shell_word(as_typed(spec));
    const bool runs_python = command.size() > 1 && command[1] == "python";
    return text + " " +
           (runs_python ? shell_words({command.begin() + 1, command.end()}) : "python");
}

/// Another program of that name on PATH is not run instead.
Result<int> no_such_program(Context& context,
                            const fs::path& prefix,
                            const std::vector<std::string>& command,
                            const std::vector<MatchSpec>& specs) {
    const auto opened = Prefix::open(prefix);
    const auto records = opened ? opened->records() : std::vector<PrefixRecord>();
    if (!records) return pass(records.error());
    const auto& program = command.front();
    const auto programs = programs_of(*records, specs);
    auto hint =
        programs.empty()
            ? fmt::format("name the package that contains it: gpkg exec --spec PACKAGE {}", program)
            : hint_with_programs(programs, specs.size() == 1);
    // A library: what it is used with came along.
    if (specs.front().name == program && find_record(*records, "python") != nullptr)
        hint = fmt::format("to use it in Python: {}{}",
                           command_in_python(specs, command),
                           programs.empty() ? "" : "; " + hint);
    std::vector<std::string> packages;
    packages.reserve(specs.size());
    for (const auto& spec : specs) packages.push_back(spec.name);
    context.out.error({ErrorKind::NotFound,
                       packages.size() == 1
                           ? fmt::format("package {} has no program '{}'", packages[0], program)
                           : fmt::format("packages {} have no program '{}'",
                                         join_some(packages, "and", packages.size()),
                                         program),
                       hint,
                       {}});
    return kNotFound;
}

/// Of a tool whose name no package has: its package may have another name.
Error about_tool(Error error, const std::string& tool) {
    if (!error.is_about_unknown(tool)) return error;
    if (!error.hint.empty()) error.hint += error.hint.ends_with('?') ? " Or, " : "; ";
    error.hint += fmt::format(
        "if a package of another name contains it: gpkg exec --spec PACKAGE {}", shell_word(tool));
    return error;
}

/// The packages of --with, which takes one at a time: "numpy,requests" are two.
Result<std::vector<MatchSpec>> specs_of_with(const std::vector<std::string>& texts) {
    auto specs = parse_specs(texts);
    for (const auto& text : texts) {
        const auto names = split(text, ',');
        if (specs || names.size() < 2 || !std::ranges::all_of(names, is_package_name)) continue;
        specs.error().hint =
            fmt::format("repeat the option: --with {}", fmt::join(names, " --with "));
        break;
    }
    return specs;
}

/// It may be cleaned away as soon as it is made.
Result<fs::path> held_environment(Context& context, const OneOffRequest& request, bool anew) {
    constexpr int kAttempts = 5;
    for (int attempt = 0;; ++attempt) {
        GPKG_TRY(auto prefix, one_off_environment(context, request, anew));
        if (hold_for_tool(prefix) || attempt == kAttempts) return prefix;
    }
}

/// Whether the tool is a script: "gpkg exec script.py" stands for "gpkg exec python script.py".
bool is_python_script(const std::string& tool) {
    std::error_code code;
    return tool.ends_with(".py") && fs::is_regular_file(tool, code);
}

/// python and the packages that the script names in its `# /// script` block.
Result<std::vector<MatchSpec>> specs_of_script(const std::string& script) {
    GPKG_TRY(const auto text, read_file(script));
    auto texts = inline_script_specs(text);
    if (!texts) return pass(std::move(texts).error().while_doing(script));
    GPKG_TRY(auto specs, parse_specs(*texts));
    const auto is_python = [](const MatchSpec& spec) { return spec.name == "python"; };
    if (std::ranges::none_of(specs, is_python)) {
        GPKG_TRY(auto python, parse_spec("python"));
        specs.insert(specs.begin(), std::move(python));
    }
    return specs;
}

/// Of a package that a script names: the index of Python may have other names than the channels.
Error about_script(Error error, const std::string& script, const std::vector<MatchSpec>& specs) {
    const bool is_about_it = std::ranges::any_of(specs, [&](const MatchSpec& spec) {
        return spec.name != "python" && error.is_about_unknown(spec.name);
    });
    if (is_about_it)
        error.hint += fmt::format(
            "{}{} names packages of Python's index; those of the channels may "
            "have other names: gpkg exec --with PACKAGE python {}",
            error.hint.empty() ? "" : "; ",
            script,
            shell_word(script));
    return error;
}

Result<int> exec(Context& context, const CLI::App& app, const ExecOptions& options) {
    auto command = words_behind_options(app, context.arguments);
    // What is told to help is this command line with other specs: the tool's words are none.
    const auto place = context.arguments.size() - command.size();
    std::erase_if(context.positionals, [&](std::size_t word) { return word > place; });
    OneOffRequest request;
    request.sources = options.sources;
    GPKG_TRY(request.specs, parse_specs(options.specs));
    const auto script = is_python_script(command.front()) ? command.front() : std::string();
    std::vector<MatchSpec> of_script;
    if (!script.empty()) {
        GPKG_TRY(of_script, specs_of_script(script));
        const bool has_packages = of_script.size() > 1 || as_typed(of_script.front()) != "python";
        if (!has_packages && options.specs.empty() && options.with.empty())
            context.out.note(
                fmt::format("note: {} names no packages; to add them: gpkg exec --with PACKAGE {}",
                            script,
                            shell_word(script)));
        request.specs.insert(request.specs.end(), of_script.begin(), of_script.end());
        command.insert(command.begin(), "python");
    } else if (options.specs.empty()) {
        if (auto is_tool = check_is_not_file(context, command.front()); !is_tool) {
            is_tool.error().hint = "to install its packages: gpkg create -n NAME -f FILE";
            return pass(std::move(is_tool).error());
        }
        GPKG_TRY(auto spec, parse_spec(command.front()));
        // "ruff=0.5" is the program of that version.
        command.front() = spec.name;
        request.specs.push_back(std::move(spec));
    }
    request.tool = request.specs.front().name;
    GPKG_TRY(const auto more, specs_of_with(options.with));
    request.specs.insert(request.specs.end(), more.begin(), more.end());
    ask_channels_of(request.specs, request.sources);
    const auto& program = command.front();
    auto held = held_environment(context, request, options.anew);
    if (!held && !script.empty())
        return pass(about_script(std::move(held).error(), script, of_script));
    if (!held && options.specs.empty()) return pass(about_tool(std::move(held).error(), program));
    GPKG_TRY(const auto prefix, std::move(held));
    const bool is_path = program.find('/') != std::string::npos;
    if (!is_path && ::access((prefix / "bin" / program).c_str(), X_OK) != 0)
        return no_such_program(context, prefix, command, request.specs);
    return run_inside(context,
                      prefix,
                      command,
                      "",
                      fmt::format("check that {} contains the program: gpkg list -p {}",
                                  request.specs.front().name,
                                  prefix.native()));
}

}  // namespace

Action bind_exec(CLI::App& app) {
    const auto options = std::make_shared<ExecOptions>();
    add_source_options(app, options->sources);
    const auto add_specs = [&](const char* name, auto& specs, const char* help) {
        app.add_option(name, specs, help)
            ->type_name("SPEC")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false);
    };
    add_specs(
        "-s,--spec", options->specs, "package of the tool, if its name differs; may be repeated");
    add_specs("-w,--with", options->with, "install this package too; may be repeated");
    app.add_flag("--refresh", options->anew, "update the cached environment of an earlier run");
    add_yes_option(app, "accepted for compatibility: exec never asks")->group("");
    app.add_option("tool",
                   options->command,
                   "tool, with a version if needed (ruff=0.5), or script.py; its arguments")
        ->required()
        ->type_name("TOOL");
    app.positionals_at_end();
    app.footer(
        "Runs a tool of a package in a temporary environment. The same request reuses the "
        "environment until "
        "`gpkg clean --exec`. Input, output, signals and the exit status are passed through. A "
        "script.py runs in python, with the packages that its `# /// script` block names (PEP "
        "723).\n"
        "\n"
        "  gpkg exec ruff check\n"
        "  gpkg exec -c bioconda samtools=1.20 view x.bam\n"
        "  gpkg exec --with numpy python -c 'import numpy'\n"
        "  gpkg exec --with numpy --with requests script.py\n"
        "  gpkg exec --spec imagemagick convert a.png a.jpg\n");

    return [options, &app](Context& context) { return exec(context, app, *options); };
}

}  // namespace gpkg::cli
