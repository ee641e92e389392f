// `completion` prints a script for a shell; the script asks `__complete` for candidates. So they
// are always those of this program, and the scripts stay a few lines.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/help.hpp"
#include "cli/shells.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/text.hpp"
#include "libcore/config/config.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/generation.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/shell.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

namespace gpkg::cli {
namespace {

// A line "@files" asks the shell for its own completion of paths.
constexpr std::string_view kFiles = "@files";

std::vector<std::string> priority_names() { return {"strict", "flexible", "disabled"}; }

std::vector<std::string> environment_names(const Context& context) {
    const auto folders = environment_folders(context.config);
    std::vector<std::string> names;
    for (const auto& path : list_environments(folders, context.home)) {
        if (folders.has(path)) names.push_back(folders.name_of(path));
    }
    return names;
}

/// Names of what is installed, from the names of the records alone: nothing is read.
std::vector<std::string> installed_names(const fs::path& prefix) {
    std::set<std::string> names;
    std::error_code code;
    for (fs::directory_iterator entry(prefix / "conda-meta", code), end; !code && entry != end;
         entry.increment(code)) {
        const auto file = entry->path();
        if (file.extension() != ".json") continue;
        if (const auto parsed = FileName::parse(file.stem().native() + ".conda"))
            names.insert(parsed->name);
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> variable_names(const fs::path& path) {
    std::vector<std::string> names;
    const auto prefix = Prefix::open(path);
    const auto variables = prefix ? prefix->env_vars() : std::map<std::string, std::string>();
    if (!variables) return names;
    for (const auto& [name, value] : *variables) names.push_back(name);
    return names;
}

/// Names in the configured channels, as far as they are local or in the cache.
std::vector<std::string> channel_names(Context& context) {
    SourceOptions sources;
    sources.offline = true;
    const auto channels = fetch_channels(context, sources, Extent::Named);
    auto names = channels ? channels->names() : fail(ErrorKind::NotFound, "");
    return names ? *std::move(names) : std::vector<std::string>();
}

std::vector<std::string> setting_names() {
    std::vector<std::string> names;
    names.reserve(config_keys().size());
    for (const auto& key : config_keys()) names.emplace_back(key.name);
    return names;
}

/// The values of a setting that has a fixed set of them; else @files.
std::vector<std::string> setting_values(const std::string& name) {
    if (const auto key = find_config_key(name)) {
        if (key->name == "channel_priority") return priority_names();
        if (key->name == "link") return {"auto", "hardlink", "reflink", "copy"};
        const auto defaults = shown_settings(Config{});
        const auto setting = std::ranges::find(defaults, key->name, &ShownSetting::key);
        std::vector<std::string> flags{"true", "false"};
        if (setting != defaults.end() && setting->values.size() == 1 &&
            std::ranges::find(flags, setting->values.front()) != flags.end())
            return flags;
    }
    return {std::string(kFiles)};
}

std::vector<std::string> generation_texts(const fs::path& prefix) {
    std::vector<std::string> texts;
    const auto numbers = generation_numbers(prefix).value_or(std::vector<std::uint64_t>());
    texts.reserve(numbers.size());
    for (const auto number : numbers) texts.push_back(std::to_string(number));
    return texts;
}

/// What the words before the last one say.
struct Situation {
    const CLI::App* app = nullptr;        ///< the innermost command named
    const CLI::Option* option = nullptr;  ///< whose value is being typed
    fs::path prefix;                      ///< of -n or -p, or the active one
    bool has_argument = false;            ///< a word that is neither command nor option
};

std::string option_name(const CLI::Option& option) {
    if (!option.get_lnames().empty()) return option.get_lnames().front();
    return option.get_snames().empty() ? "" : option.get_snames().front();
}

Situation situation(const Context& context,
                    const CLI::App& root,
                    const std::vector<std::string>& words) {
    Situation now{&root, nullptr, context.env("CONDA_PREFIX").value_or(""), false};
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const auto& word = words[i];
        if (word.starts_with('-')) {
            const auto* option = now.app->get_option_no_throw(word);
            if (option == nullptr || option->get_items_expected_max() == 0) continue;
            if (i + 2 == words.size()) {
                now.option = option;
                break;
            }
            ++i;
            if (option_name(*option) == "name")
                now.prefix = words[i] == "base"
                                 ? context.config.root_prefix.value
                                 : environment_folders(context.config).path_of(words[i]);
            if (option_name(*option) == "prefix")
                now.prefix = absolute_path(words[i], context.home);
            continue;
        }
        const auto* sub = [&]() -> const CLI::App* {
            try {
                return now.app->get_subcommand(word);
            } catch (const CLI::OptionNotFound&) {
                return nullptr;
            }
        }();
        if (sub == nullptr || now.has_argument)
            now.has_argument = true;
        else
            now.app = sub;
    }
    return now;
}

std::vector<std::string> values_of(const Context& context, const CLI::Option& option) {
    const auto name = option_name(option);
    const auto known = known_subdirs();
    if (name == "name" || name == "clone") return environment_names(context);
    if (name == "platform") return {known.begin(), known.end()};
    if (name == "channel-priority") return priority_names();
    if (name == "shell") return {"bash", "zsh", "fish", "tcsh", "powershell", "posix"};
    if (name == "channel") return context.config.channels.value;
    return {std::string(kFiles)};
}

std::vector<std::string> candidates(Context& context,
                                    const CLI::App& root,
                                    const std::vector<std::string>& words) {
    const auto now = situation(context, root, words);
    if (now.option != nullptr) return values_of(context, *now.option);
    if (words.back().starts_with('-')) return option_names(*now.app);
    const auto verb = now.app->get_name();
    const auto& word = words.back();
    auto names = subcommand_names(*now.app);
    // `gpkg build` has a subcommand, but mostly takes folders.
    const bool begins_name = !word.empty() && std::ranges::any_of(names, [&](const auto& name) {
        return name.starts_with(word);
    });
    if (begins_name || (!names.empty() && verb != "build")) return names;
    if (now.app->get_parent() != nullptr && now.app->get_parent()->get_name() == "config") {
        if (!now.has_argument) return setting_names();
        return verb == "set" ? setting_values(words[words.size() - 2])
                             : std::vector{std::string(kFiles)};
    }
    if (verb == "rollback") return generation_texts(now.prefix);
    if (verb == "activate") return environment_names(context);
    static constexpr std::array kOfInstalled{
        "remove", "update", "list", "why", "depends", "whoneeds", "tree"};
    if (std::find(kOfInstalled.begin(), kOfInstalled.end(), verb) != kOfInstalled.end())
        return installed_names(now.prefix);
    static constexpr std::array kOfChannels{
        "create", "install", "search", "show", "solve", "variants", "why-not"};
    if (!word.empty() &&
        std::find(kOfChannels.begin(), kOfChannels.end(), verb) != kOfChannels.end()) {
        auto packages = channel_names(context);
        std::erase_if(packages, [&](const auto& name) { return !name.starts_with(word); });
        if (!packages.empty()) return packages;
    }
    if (verb == "unset") return variable_names(now.prefix);
    if (verb == "completion") return {"bash", "zsh", "fish"};
    if (verb == "init" || verb == "shell-hook")
        return {"bash", "zsh", "fish", "tcsh", "powershell", "posix"};
    if (verb == "run" && !now.has_argument) {
        std::vector<std::string> programs;
        std::error_code code;
        for (fs::directory_iterator entry(now.prefix / "bin", code), end; !code && entry != end;
             entry.increment(code))
            programs.push_back(entry->path().filename());
        if (!programs.empty()) return programs;
    }
    return {std::string(kFiles)};
}

int complete(Context& context, const CLI::App& root) {
    const auto& all = context.arguments;
    const auto mark = std::find(all.begin(), all.end(), "--");
    if (mark == all.end() || all.end() - mark < 3) return 0;
    const std::vector<std::string> words(mark + 1, all.end());
    auto found = candidates(context, root, words);
    std::sort(found.begin(), found.end());
    for (const auto& name : found) {
        if (name == kFiles || name.starts_with(words.back())) context.out.verbatim(name);
    }
    return 0;
}

Result<int> print_script(Context& context, const std::string& name) {
    auto shell = guess_shell(context.env).value_or(Shell::Bash);
    if (!name.empty()) {
        GPKG_TRY(shell, parse_shell(name));
    }
    const auto script = completion_script(shell, "gpkg");
    if (!script.empty()) {
        print_shell_code(context.out, script);
        return 0;
    }
    return fail(ErrorKind::Usage,
                fmt::format("completion is not available for {}", shell_name(shell)),
                "supported shells: bash, zsh, fish");
}

}  // namespace

Action bind_completion(CLI::App& app) {
    const auto shell = std::make_shared<std::string>();
    app.add_option("shell,-s,--shell", *shell, "bash, zsh or fish (default: your shell)")
        ->type_name("SHELL");
    app.footer(
        "Prints a script for your shell that completes commands, options, environments and "
        "packages. The block of `gpkg init` contains it already.\n"
        "\n"
        "  eval \"$(gpkg completion bash)\"\n"
        "  gpkg completion fish > ~/.config/fish/completions/gpkg.fish\n");

    return [shell](Context& context) { return print_script(context, *shell); };
}

Action bind_complete(CLI::App& app) {
    const auto words = std::make_shared<std::vector<std::string>>();
    app.add_option("words", *words, "command line to complete");

    return [words, &app](Context& context) -> Result<int> {
        return complete(context, *app.get_parent());
    };
}

}  // namespace gpkg::cli
