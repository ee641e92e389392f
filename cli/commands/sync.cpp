// `sync`: an environment with exactly the packages of a lock file or of an environment.yml.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct SyncOptions {
    TargetOptions target;
    SourceOptions sources;
    ChangeOptions change;
    WishOptions wishes;
    LockedOptions lock;
};

/// Without -f and --lock: gpkg.lock of this folder, else its environment.yml.
void add_default_file(SyncOptions& options) {
    if (!options.wishes.files.empty() || !options.lock.file.empty()) return;
    if (fs::exists("gpkg.lock")) {
        options.lock.file = "gpkg.lock";
    } else {
        options.wishes.files = {"environment.yml"};
    }
}

/// The environment that `target` names. It may be missing, but nothing else may be in its place.
Result<fs::path> prefix_of(Context& context,
                           const SyncOptions& options,
                           const TargetOptions& target) {
    GPKG_TRY(auto path, target_prefix(context, target));
    if (!fs::exists(path / "conda-meta")) {
        GPKG_TRY(path, new_prefix(context, target));
    }
    context.prefix = path;
    GPKG_CHECK(recover_prefix(context, path, options.change.dry_run));
    return path;
}

Result<Change> as_locked(Context& context, const SyncOptions& options) {
    GPKG_TRY(const auto path, prefix_of(context, options, options.target));
    GPKG_TRY(auto request, locked_request(context, options.sources, options.lock, path));
    request.prune = true;
    return exactly(std::move(request));
}

Result<Change> as_files_say(Context& context, SyncOptions& options) {
    options.wishes.ignore_names = !options.target.name.empty() || !options.target.prefix.empty();
    GPKG_TRY(auto wishes, read_wishes(context, options.wishes, options.sources));
    GPKG_TRY(const auto path, prefix_of(context, options, target_meant(options.target, wishes)));
    if (!wishes.files.empty()) {
        auto request = explicit_request(path, std::move(wishes));
        request.prune = true;
        return exactly(std::move(request));
    }
    auto request = change_request(std::move(wishes));
    request.prefix = path;
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    request.prune = Prefix::is_environment(path);
    request.is_dry_run = options.change.dry_run;
    return decide(context, options.sources, request);
}

Result<int> sync(Context& context, SyncOptions& options) {
    options.change.offline = options.sources.offline;
    add_default_file(options);
    GPKG_TRY(
        auto change,
        options.lock.file.empty() ? as_files_say(context, options) : as_locked(context, options));
    return carry_out(context, std::move(change), options.change);
}

}  // namespace

Action bind_sync(CLI::App& app) {
    const auto options = std::make_shared<SyncOptions>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_change_options(app, options->change);
    auto* file = app.add_option("-f,--file",
                                options->wishes.files,
                                "environment.yml, spec file or explicit file; may be repeated");
    file->type_name("FILE")->expected(1)->take_all()->allow_extra_args(false);
    add_lock_options(app, "--lock", "lock file", options->lock);
    app.get_option("--lock")->excludes(file);
    app.footer(
        "Makes an environment match a file: installs the missing packages, changes those of "
        "other versions, and removes the rest. A missing environment is created. Without -f and "
        "--lock the file is gpkg.lock in this folder, else environment.yml.\n\n"
        "  gpkg sync -n ml --lock gpkg.lock\n"
        "  gpkg sync -f environment.yml\n"
        "  gpkg sync -n ml --dry-run        # show the differences");
    return [options](Context& context) { return sync(context, *options); };
}

}  // namespace gpkg::cli
