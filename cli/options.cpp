#include "cli/options.hpp"

#include "cli/command_log.hpp"
#include "cli/environments.hpp"
#include "cli/other_names.hpp"
#include "cli/workflow/wishes/package_files.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/byte_size.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix.hpp"
#include "virtual-packages/machines.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

/// How to name an environment, and the names that there are, unless these are many.
std::string naming_hint(const Context& context) {
    constexpr std::size_t kMostListed = 8;
    const auto folders = environment_folders(context.config);
    std::vector<std::string> names;
    for (const auto& path : list_environments(folders, context.home)) {
        if (folders.has(path) && path != folders.root_prefix)
            names.push_back(shell_word(folders.name_of(path)));
    }
    if (names.empty()) return "use -n NAME or -p PATH";
    if (names.size() > kMostListed)
        return "use -n NAME or -p PATH; to list environments: gpkg env list";
    return fmt::format("use -n NAME or -p PATH; environments: {}", fmt::join(names, ", "));
}

/// "environment.yml in this folder names web: use -n web; ..."; empty if none names one.
std::string hint_at_environment_yml(const Context& context) {
    const auto name = name_in_environment_yml(context);
    if (name.empty()) return {};
    if (!is_environment_name(context.config, name))
        return fmt::format("to create {} from environment.yml in this folder: gpkg sync; else ",
                           name);
    return fmt::format(
        "environment.yml in this folder names {0}: use -n {0}; to apply the file: gpkg sync; else ",
        shell_word(name));
}

}  // namespace

std::function<std::string(const std::string&)> not_empty(std::string fault) {
    return [fault = std::move(fault)](const std::string& argument) {
        return argument.empty() ? fault : std::string();
    };
}

std::function<std::string(const std::string&)> one_of(std::vector<std::string> words) {
    return [words = std::move(words)](const std::string& argument) {
        if (std::ranges::find(words, argument) != words.end()) return std::string();
        const auto near = near_names(argument, words);
        return fmt::format("'{}' is not one of {}{}",
                           argument,
                           join_some(words, "and", words.size()),
                           near.empty() ? "" : fmt::format("; did you mean {}?", join_or(near)));
    };
}

void add_target_options(CLI::App& app, TargetOptions& options) {
    auto* name = app.add_option("-n,--name", options.name, "name of the environment");
    name->type_name("NAME")->group("Environment");
    app.add_option("-p,--prefix", options.prefix, "path of the environment")
        ->type_name("PATH")
        ->excludes(name)
        ->group("Environment");
}

void add_source_options(CLI::App& app, SourceOptions& options) {
    add_channel_options(app, options);
    add_platform_option(app, options);
    add_for_option(app, options);
}

void add_channel_options(CLI::App& app, SourceOptions& options) {
    const std::string group = "Channels";
    app.add_option("-c,--channel", options.channels, "channel to search first; may be repeated")
        ->type_name("CHANNEL")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false)  // the words that follow are specs
        ->group(group);
    app.add_flag("--override-channels",
                 options.override_channels,
                 "search only the channels given with -c")
        ->group(group);
    app.add_option("--channel-priority", options.channel_priority, "strict, flexible or disabled")
        ->type_name("PRIORITY")
        ->check(one_of({"strict", "flexible", "disabled"}))
        ->group(group);
    app.add_flag("--offline", options.offline, "use only packages and indexes on this machine")
        ->group(group);
    // As the setting ssl_verify, which it replaces.
    const std::string insecure = "do not verify TLS certificates";
    app.add_flag("-k,--insecure", insecure)->group(group);
    app.add_option(
           "--exclude-newer",
           options.exclude_newer,
           "ignore packages newer than DATE (2026-11-01 or 7d: 7 days ago); none for no limit")
        ->type_name("DATE")
        ->check(not_empty("the date is empty"))
        ->group(group);
}

void add_platform_option(CLI::App& app, SourceOptions& options) {
    app.add_option("--platform,--subdir",
                   options.platform,
                   "solve for this platform: linux-64, linux-aarch64, osx-arm64, ...")
        ->type_name("PLATFORM")
        ->group("Machine");
}

void add_for_option(CLI::App& app, SourceOptions& options) {
    app.add_option(
           "--for",
           options.for_machine,
           std::string(
               "solve for another machine: a profile written by `gpkg hardware export`, or a "
               "name listed by `gpkg hardware list`") +
               kFactsMayFollow)
        ->type_name("FILE|NAME")
        ->check(not_empty("the machine is empty"))
        ->group("Machine");
    add_devices_option(app, options);
}

void add_devices_option(CLI::App& app, SourceOptions& options) {
    app.add_option("--devices",
                   options.devices,
                   "GPUs to consider: all, compute (no display cards), or their numbers in `gpkg "
                   "hardware`: 0,2")
        ->type_name("GPUS")
        ->check(not_empty("the list of GPUs is empty"))
        ->group("Machine");
}

void add_machines_option(CLI::App& app,
                         std::vector<std::string>& machines,
                         const std::string& help) {
    const auto add = [&machines](const std::vector<std::string>& lists) {
        for (const auto& list : lists) append(machines, virtual_packages::machines_in(list));
    };
    app.add_option_function<std::vector<std::string>>("--for", add, help)
        ->type_name("FILE|NAME")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false)
        ->check(not_empty("the machine is empty"))
        ->group("Machine");
}

void add_lock_options(CLI::App& app,
                      const std::string& flag,
                      const std::string& help,
                      LockedOptions& options) {
    auto* lock = app.add_option(flag, options.file, help)->type_name("FILE");
    add_environment_option(app, options.environment)->needs(lock);
}

void add_inconsistent_option(CLI::App& app, LockedOptions& options) {
    app.add_flag("--allow-inconsistent",
                 options.allow_inconsistent,
                 "install a lock as it is although its packages do not fit together");
}

CLI::Option* add_environment_option(CLI::App& app, std::string& environment) {
    return app
        .add_option("--environment",
                    environment,
                    "environment of a pixi.lock, or category of a conda-lock.yml")
        ->type_name("NAME")
        ->check(not_empty("the name is empty"));
}

void add_signing_options(CLI::App& app, SigningWords& words) {
    auto* sign = app.add_option("--sign-key",
                                words.keys,
                                "sign the indexes with this private key (see `gpkg keys "
                                "generate`); may be repeated");
    sign->type_name("FILE")->expected(1)->take_all()->allow_extra_args(false);
    app.add_option("--expires", words.expires, "time until the signature expires: 30d, 12h, 2w")
        ->type_name("TIME")
        ->needs(sign);
}

void add_check_option(CLI::App& app, ChangeOptions& options) {
    app.add_flag_callback(
           "--check",
           [&options] { options.check = options.dry_run = true; },
           "like --dry-run; exit status 1: differences, 2: error")
        ->group("Installation");
}

void add_link_options(CLI::App& app, ChangeOptions& options) {
    const std::string group = "Installation";
    auto* link = app.add_option(
        "--link", options.link, "how to link files: auto, hardlink, reflink or copy");
    link->type_name("METHOD")->check(one_of({"auto", "hardlink", "reflink", "copy"}))->group(group);
    app.add_flag_callback(
           "--copy", [&options] { options.link = "copy"; }, "same as --link copy")
        ->excludes(link)
        ->group(group);
}

CLI::Option* add_yes_option(CLI::App& app, const std::string& help) {
    return app.add_flag("-y,--yes", help);
}

void add_change_options(CLI::App& app, ChangeOptions& options) {
    const std::string group = "Installation";
    app.add_flag("-d,--dry-run", options.dry_run, "show the plan without applying it")
        ->group(group);
    add_yes_option(app, "answer yes to all questions (always: gpkg config set always_yes true)")
        ->group(group);
    app.add_flag("--download-only",
                 options.download_only,
                 "download and unpack packages without installing them")
        ->group(group);
    add_link_options(app, options);
    app.add_option_function<std::string>(
           "--max-size",
           [&options](const std::string& text) {
               const auto size = parse_byte_size(text);
               if (!size) throw CLI::ValidationError("--max-size", size.error().message);
               options.most_bytes = *size;
           },
           "stop if the change needs more disk space than this: 3GB")
        ->type_name("SIZE")
        ->group(group);
    app.add_option("--max-inodes",
                   options.most_inodes,
                   "stop if the change needs more inodes (files and folders) than this")
        ->type_name("N")
        ->check(whole_number_from(0))
        ->group(group);
    app.add_flag("--override-frozen",
                 options.override_frozen,
                 "change the environment even if it is marked as frozen")
        ->group(group);
    add_script_options(app, options);
}

void add_script_options(CLI::App& app, ChangeOptions& options) {
    const std::string group = "Installation";
    auto* none = app.add_flag("--no-scripts", options.no_scripts, "run no link scripts");
    none->group(group);
    app.add_option("--allow-scripts",
                   options.allow_scripts,
                   "run the link scripts of this package although the setting link_scripts is ask "
                   "or list; may be repeated")
        ->type_name("PACKAGE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false)
        ->check(not_empty("the package name is empty"))
        ->excludes(none)
        ->group(group);
}

void add_reach_options(CLI::App& app, ReachOptions& options, ReachVerb verb) {
    const std::string group = "Update scope";
    auto* no_deps = app.add_flag(
        "--no-deps", options.no_deps, "install the named packages without their dependencies");
    no_deps->group(group);
    if (verb != ReachVerb::Update)
        app.add_flag("--only-deps",
                     options.only_deps,
                     "install the dependencies of the named packages without the packages")
            ->excludes(no_deps)
            ->group(group);
    add_pin_option(app, options.no_pin);
    if (verb == ReachVerb::Create) return;
    auto* freeze = app.add_flag("--freeze-installed,--no-update-deps",
                                options.freeze_installed,
                                "change no installed package that is not named");
    freeze->group(group);
    app.add_flag("--update-deps",
                 options.update_deps,
                 "also update the dependencies of the named packages")
        ->excludes(freeze)
        ->excludes(no_deps)
        ->group(group);
}

void add_pin_option(CLI::App& app, bool& no_pin) {
    app.add_flag("--no-pin", no_pin, "ignore pins (`gpkg pins` lists them)")->group("Update scope");
}

Result<std::vector<std::string>> words_of_option(const std::string& text, std::string_view option) {
    if (auto words = words_of_line(text)) return *std::move(words);
    return fail(ErrorKind::Usage, fmt::format("{} {}: missing closing quote", option, text));
}

TargetOptions target_of(const std::string& name_or_path) {
    TargetOptions target;
    const bool is_path = name_or_path.find('/') != std::string::npos;
    (is_path ? target.prefix : target.name) = name_or_path;
    return target;
}

std::string target_flags(const TargetOptions& target) {
    if (!target.name.empty()) return " -n " + shell_word(target.name);
    return target.prefix.empty() ? "" : " -p " + shell_word(target.prefix);
}

Result<fs::path> target_prefix(const Context& context, const TargetOptions& options) {
    if (!options.prefix.empty()) return absolute_path(options.prefix, context.home);
    if (!options.name.empty()) {
        if (options.name == "base" || options.name == "root")
            return context.config.root_prefix.value;
        GPKG_CHECK(check_environment_name(options.name));
        return environment_folders(context.config).path_of(options.name);
    }
    if (const auto active = context.env("CONDA_PREFIX"); active && !active->empty())
        return absolute_path(*active, context.home);
    return fail(ErrorKind::Usage,
                std::string(kNoEnvironmentActive),
                hint_at_environment_yml(context) + naming_hint(context));
}

Result<fs::path> new_prefix(const Context& context, const TargetOptions& options) {
    GPKG_TRY(const auto found, target_prefix(context, options));
    context.prefix = found;
    if (!options.prefix.empty() || found == context.config.root_prefix.value) return found;
    auto prefix = environment_folders(context.config).path_for_new(options.name);
    context.prefix = prefix;
    if (prefix != found)
        context.out.note(fmt::format("note: the new environment hides {}; -n {} now means {}",
                                     found.native(),
                                     options.name,
                                     prefix.native()));
    return prefix;
}

namespace {

/// The name that -n gives in a command line; empty without -n.
std::string name_in(const std::string& command) {
    const auto words = words_of_line(command).value_or(std::vector<std::string>());
    for (std::size_t i = 0; i < words.size(); ++i) {
        constexpr std::string_view kLong = "--name=";
        if (words[i].starts_with(kLong)) return words[i].substr(kLong.size());
        if ((words[i] == "-n" || words[i] == "--name") && i + 1 < words.size()) return words[i + 1];
    }
    return {};
}

/// Whether the last command in the history that names the environment calls it `name`.
bool was_called(const fs::path& prefix, const std::string& name) {
    const auto opened = Prefix::open(prefix);
    const auto history = opened ? opened->history() : std::vector<HistoryEntry>();
    if (!history) return false;
    for (auto entry = history->rbegin(); entry != history->rend(); ++entry) {
        const auto called = name_in(entry->command);
        if (!called.empty()) return called == name;
    }
    return false;
}

/// "did you mean -p /data/ml?" for environments that are not in the folders of environments any
/// more, or have a similar name.
std::string hint_for_missing(const Context& context, const std::string& name) {
    const auto folders = environment_folders(context.config);
    std::vector<std::string> names;
    for (const auto& path : list_environments(folders, context.home)) {
        if (!folders.has(path) && was_called(path, name))
            return fmt::format("an environment that was called {} is at {}: use {}",
                               name,
                               path.native(),
                               environment_argument(path));
        names.push_back(folders.name_of(path));
    }
    auto near = near_names(name, names);
    for (auto& other : near) {
        if (other.starts_with('/')) other = environment_argument(other);
    }
    return did_you_mean(near);
}

}  // namespace

Result<fs::path> existing_prefix(const Context& context, const TargetOptions& options) {
    GPKG_TRY(auto prefix, target_prefix(context, options));
    context.prefix = prefix;
    // An interrupted creation has its journal, though not yet its history.
    std::error_code code;
    if (Prefix::is_environment(prefix) || fs::exists(prefix / "conda-meta", code) ||
        prefix_condition(prefix) == PrefixCondition::Interrupted)
        return prefix;
    if (code == std::errc::permission_denied) return pass(io_error(prefix, "look into", EACCES));
    const auto file = options.name.empty() ? prefix : absolute_path(options.name, context.home);
    const auto how_to_use = hint_for_packed_environment(file.native());
    if (!how_to_use.empty() && fs::is_regular_file(file, code))
        return fail(ErrorKind::NoEnvironment,
                    fmt::format("{}: {} of an environment, not an environment",
                                file.native(),
                                file.extension() == ".sqfs" ? "an image" : "an archive"),
                    how_to_use);
    const auto folders = environment_folders(context.config);
    const auto name = folders.name_of(prefix);
    auto hint = hint_for_missing(context, name);
    const bool has_near = !hint.empty();
    if (!has_near) hint = "to list environments: gpkg env list";
    const auto& root = context.config.root_prefix;
    if (!has_near && !options.name.empty() && root.source == "default")
        hint += fmt::format("; the root prefix is {} (GPKG_ROOT_PREFIX sets another)",
                            root.value.native());
    if (prefix == folders.root_prefix) hint = "gpkg has no base environment; " + hint;
    if (const auto creation = interrupted_creation(context.config, prefix); !creation.empty())
        hint = "creating it was interrupted; run again: " + creation;
    else if (const auto removed = creation_of_removed(context.config, prefix); !removed.empty())
        hint = "it was removed; to create it again: " + removed;
    std::vector<std::string> others;
    for (const auto& folder : folders.envs) {
        if (!options.name.empty() && prefix != folders.root_prefix &&
            folder != prefix.parent_path())
            others.push_back(folder.native());
        std::error_code unseen;
        (void)fs::status(folder / name / "conda-meta", unseen);
        if (unseen == std::errc::permission_denied)
            hint += fmt::format("; no permission to read {}", folder.native());
    }
    return pass(no_environment(prefix,
                               fmt::format("no environment at {}{}",
                                           prefix.native(),
                                           others.empty() ? "" : ", nor in " + join_or(others)),
                               hint));
}

std::function<std::string(const std::string&)> whole_number_from(std::uint64_t least) {
    return [=](const std::string& text) {
        const auto number = whole_number<std::uint64_t>(text);
        return number && *number >= least
                   ? std::string()
                   : fmt::format("'{}' is not a whole number of at least {}", text, least);
    };
}

Result<MatchSpec> parse_spec(const std::string& text) {
    std::error_code ignored;
    const bool is_file = fs::exists(text, ignored);
    if (is_file && is_package_place(text))
        return fail(ErrorKind::Usage,
                    fmt::format("{} is a package file, not a spec", text),
                    "to show a package file: gpkg inspect " + shell_word(text));
    auto spec = MatchSpec::parse(text);
    if (spec) return spec;
    spec.error().kind = ErrorKind::Usage;
    if (text.ends_with("recipe.yaml") || fs::exists(fs::path(text) / "recipe.yaml", ignored))
        spec.error().hint = fmt::format("for a recipe: gpkg build {} --plan", shell_word(text));
    return spec;
}

Result<std::vector<MatchSpec>> parse_specs(const std::vector<std::string>& texts) {
    std::vector<MatchSpec> specs;
    for (const auto& text : texts) {
        GPKG_TRY(auto spec, parse_spec(text));
        specs.push_back(std::move(spec));
    }
    return specs;
}

}  // namespace gpkg::cli
