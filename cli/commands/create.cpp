#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/workflow/delivery/copying.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/sources.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct CreateOptions {
    TargetOptions target;
    SourceOptions sources;
    ChangeOptions change;
    ReachOptions reach;
    WishOptions wishes;
    std::string clone;
    LockedOptions lock;
    bool no_default_packages = false;
};

/// "-f environment.yml" or "--lock gpkg.lock", where the request is one file.
std::string file_to_sync(const CreateOptions& options, const Wishes& wishes) {
    if (!options.lock.file.empty()) return "--lock " + shell_word(options.lock.file);
    if (options.wishes.files.size() != 1 || !options.wishes.specs.empty() || !wishes.files.empty())
        return {};
    return "-f " + shell_word(options.wishes.files.front());
}

/// The command line with "-n" before its first argument.
std::string with_first_as_name(const Context& context, const std::string& argument) {
    auto words = context.arguments;
    words.front() = "gpkg";
    for (const auto index : context.positionals) {
        if (words[index] != argument) continue;
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(index), "-n");
        break;
    }
    return shell_words(words);
}

/// Of a command without -n and -p; "gpkg create ml numpy" may mean "gpkg create -n ml numpy".
std::string hint_at_name(const Context& context, const CreateOptions& options) {
    const auto& specs = options.wishes.specs;
    if (!options.clone.empty())
        return specs.size() == 1
                   ? with_first_as_name(context, specs.front())
                   : fmt::format("gpkg create -n NAME --clone {}", shell_word(options.clone));
    std::string hint = "use -n NAME, -p PATH, or an environment.yml with a name";
    if (specs.size() < 2 || !is_package_name(specs.front())) return hint;
    return fmt::format("{}; for an environment called {}: {}",
                       hint,
                       specs.front(),
                       with_first_as_name(context, specs.front()));
}

/// How to create the environment of environment.yml in this folder, where nothing is requested.
std::string hint_at_file(const Context& context, const CreateOptions& options) {
    std::error_code code;
    if (!options.wishes.specs.empty() || !options.wishes.files.empty() ||
        !options.lock.file.empty() || !fs::exists("environment.yml", code))
        return {};
    return fmt::format("to use environment.yml of this folder: gpkg create {}-f environment.yml{}",
                       name_in_environment_yml(context).empty() ? "-n NAME " : "",
                       given_sources(context.arguments));
}

/// The prefix given on the command line, else in the environment.yml. It must not exist yet.
Result<fs::path> place_of_new(Context& context,
                              const CreateOptions& options,
                              const Wishes& wishes) {
    auto target = target_meant(options.target, wishes);
    if (!options.lock.file.empty()) {
        GPKG_TRY(target, target_of_lock(context, target, options.lock.file));
    }
    if (target.name.empty() && target.prefix.empty()) {
        auto hint = hint_at_file(context, options);
        if (hint.empty()) hint = hint_at_name(context, options);
        return fail(
            ErrorKind::Usage, "the new environment needs a name or a path", std::move(hint));
    }
    GPKG_TRY(auto prefix, new_prefix(context, target));
    GPKG_CHECK(recover_prefix(context, prefix, options.change.dry_run));
    auto is_free = check_free(context, prefix);
    if (is_free) return prefix;
    auto error = std::move(is_free).error();
    const auto file = file_to_sync(options, wishes);
    if (!file.empty() && Prefix::is_environment(prefix) &&
        check_writable_folder(prefix / "conda-meta"))
        error.hint = fmt::format("to make it match the file: gpkg sync {} {}{}; {}",
                                 target_words(context, prefix),
                                 file,
                                 given_sources(context.arguments),
                                 error.hint);
    return pass(std::move(error));
}

Result<int> clone(Context& context,
                  const CreateOptions& options,
                  const Wishes& wishes,
                  const fs::path& prefix) {
    if (!wishes.accelerators.empty())
        return fail(ErrorKind::Usage,
                    "an accelerator cannot be given with --clone: a clone keeps every package",
                    fmt::format("clone first, then change the copy: gpkg install {} --accel",
                                target_words(context, prefix)));
    if (!wishes.specs.empty() || !wishes.files.empty())
        return fail(ErrorKind::Usage,
                    "packages and files cannot be given with --clone: a clone keeps every package",
                    fmt::format("clone first, then add packages: gpkg create {} --clone {} && gpkg "
                                "install {} {}{}",
                                target_words(context, prefix),
                                shell_word(options.clone),
                                target_words(context, prefix),
                                options.wishes.specs.empty() ? "-f FILE"
                                                             : shell_words(options.wishes.specs),
                                given_sources(context.arguments)));
    GPKG_TRY(const auto original, existing_prefix(context, target_of(options.clone)));
    context.prefix = prefix;  // the log is about the copy
    return clone_environment(context, original, prefix, options.change);
}

Result<Change> from_lock(Context& context,
                         const CreateOptions& options,
                         const Wishes& wishes,
                         const fs::path& prefix) {
    const auto& reach = options.reach;
    if (reach.only_deps || reach.no_deps || !options.sources.exclude_newer.empty() ||
        !options.sources.channel_priority.empty())
        return fail(ErrorKind::Usage,
                    "--no-deps, --only-deps, --exclude-newer and --channel-priority cannot be used "
                    "with --lock: the lock fixes every package");
    if (!wishes.accelerators.empty())
        return fail(ErrorKind::Usage,
                    "an accelerator cannot be given with --lock: the lock fixes every package",
                    "to lock for another accelerator: gpkg lock --accel");
    if (!wishes.specs.empty() || !wishes.files.empty())
        return fail(ErrorKind::Usage,
                    "packages and files cannot be given with --lock: the lock fixes every package",
                    fmt::format("create the environment first, then add packages: gpkg install {}",
                                target_words(context, prefix)));
    GPKG_TRY(auto locked, locked_request(context, options.sources, options.lock, prefix));
    return exactly(std::move(locked));
}

/// Package files, or an empty environment: no channel is read.
Result<Change> without_solving(Context& context, Wishes wishes, const fs::path& prefix) {
    if (!wishes.files.empty() && !wishes.accelerators.empty())
        return fail(
            ErrorKind::Usage,
            "an accelerator cannot be given with package files: they are installed as they are");
    if (wishes.files.empty()) GPKG_CHECK(heed_usual_accelerator(context, wishes.accelerators));
    return exactly(explicit_request(prefix, std::move(wishes)));
}

Result<Change> solved(Context& context,
                      const CreateOptions& options,
                      Wishes wishes,
                      const fs::path& prefix) {
    auto request = change_request(std::move(wishes));
    request.prefix = prefix;
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    request.reach = options.reach;
    request.is_dry_run = options.change.dry_run;
    return decide(context, options.sources, request);
}

Result<int> create(Context& context, CreateOptions& options, const std::string& default_file) {
    options.change.offline = options.sources.offline;
    auto& named = options.wishes;
    const bool is_locked = !options.lock.file.empty();
    if (named.specs.empty() && named.files.empty() && options.clone.empty() && !is_locked &&
        !default_file.empty())
        named.files = {default_file};
    named.ignore_names = !options.target.name.empty() || !options.target.prefix.empty();
    if (options.clone.empty() && !is_locked && !options.no_default_packages)
        named.default_specs = context.config.create_default_packages.value;
    GPKG_TRY(auto wishes, read_wishes(context, named, options.sources));
    GPKG_TRY(const auto prefix, place_of_new(context, options, wishes));
    if (!options.clone.empty()) return clone(context, options, wishes, prefix);
    GPKG_TRY(auto change,
             is_locked              ? from_lock(context, options, wishes, prefix)
             : wishes.specs.empty() ? without_solving(context, std::move(wishes), prefix)
                                    : solved(context, options, std::move(wishes), prefix));
    return carry_out(context, std::move(change), options.change);
}

/// `default_file` is read if neither packages nor files are given; empty for none.
Action bind(CLI::App& app, const std::string& default_file) {
    const auto options = std::make_shared<CreateOptions>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_change_options(app, options->change);
    add_reach_options(app, options->reach, ReachVerb::Create);
    add_wish_options(app, options->wishes);
    app.add_flag("--no-default-packages",
                 options->no_default_packages,
                 "do not add the packages of the setting create_default_packages");
    app.add_option("--clone", options->clone, "copy this environment")->type_name("NAME|PATH");
    add_lock_options(app,
                     "--lock",
                     "install the packages that this lock file lists for this machine",
                     options->lock);
    add_inconsistent_option(app, options->lock);
    if (default_file.empty())
        app.footer(
            "Creates an environment from packages, a file, a lock file or another environment. An "
            "existing environment is never overwritten.\n\n"
            "  gpkg create -n ml pytorch\n"
            "  gpkg create -n web -f environment.yml\n"
            "  gpkg create -n cluster --lock gpkg.lock   # without -n: the name in the lock\n"
            "  gpkg create -n copy --clone ml\n");
    else
        app.footer(
            "Reads environment.yml unless packages or another file are given. An existing "
            "environment is never overwritten.\n\n"
            "  gpkg env create\n"
            "  gpkg env create -n ml -f environment.yml\n");
    return [options, default_file](Context& context) {
        return create(context, *options, default_file);
    };
}

}  // namespace

Action bind_create(CLI::App& app) { return bind(app, ""); }
Action bind_env_create(CLI::App& app) { return bind(app, "environment.yml"); }

}  // namespace gpkg::cli
