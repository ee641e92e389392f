#include "cli/command.hpp"
#include "cli/commands/sync.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {

Action bind_install(CLI::App& app) {
    struct Options {
        TargetOptions target;
        SourceOptions sources;
        ChangeOptions change;
        ReachOptions reach;
        WishOptions wishes;
        LockedOptions lock;
        bool update_all = false;
        bool force_reinstall = false;
    };
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_change_options(app, options->change);
    add_check_option(app, options->change);
    add_reach_options(app, options->reach, ReachVerb::Install);
    add_wish_options(app, options->wishes);
    add_lock_options(app,
                     "--lock",
                     "make the environment match this lock file, as gpkg sync does",
                     options->lock);
    add_inconsistent_option(app, options->lock);
    app.add_flag("--update-all", options->update_all, "also update every installed package")
        ->excludes("--freeze-installed")
        ->excludes("--no-deps");
    app.add_flag("--force-reinstall",
                 options->force_reinstall,
                 "relink the named packages even if they are installed");
    // A lock fixes every package.
    for (const auto* name : {"specs",
                             "--file",
                             "--accel",
                             "--update-all",
                             "--force-reinstall",
                             "--freeze-installed",
                             "--update-specs",
                             "--update-deps",
                             "--no-deps",
                             "--only-deps",
                             "--ignore-builds",
                             "--ignore-versions",
                             "--channel-priority",
                             "--exclude-newer"}) {
        if (auto* other = app.get_option_no_throw(name)) app.get_option("--lock")->excludes(other);
    }
    app.footer(
        "Installs the newest versions that fit. Installed packages change only if a new package "
        "requires it, and only within the specs requested earlier.\n"
        "\n"
        "  gpkg install -n ml 'numpy>=1.26' scipy\n"
        "  gpkg install -n ml -f environment.yml\n"
        "  gpkg install -n ml pytorch --accel nvidia\n"
        "  gpkg install -n ml --lock gpkg.lock          # exactly the locked packages\n"
        "  gpkg install -n ml scipy --freeze-installed  # change nothing else\n");

    return [options, &app](Context& context) -> Result<int> {
        if (!options->lock.file.empty()) {
            SyncOptions same{options->target, options->sources, options->change, {}, options->lock};
            GPKG_TRY(same.target, target_of_lock(context, same.target, same.lock.file));
            GPKG_CHECK(existing_prefix(context, same.target));
            return sync(context, same);
        }
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target, options->wishes));
        GPKG_TRY(auto wishes, read_wishes(context, options->wishes, options->sources));
        GPKG_CHECK(begin_change(context, prefix, options->change));
        // An interrupted creation is gone now.
        GPKG_CHECK(Prefix::open(prefix));
        options->change.offline = options->sources.offline;
        if (!wishes.files.empty()) {
            auto request = explicit_request(prefix, std::move(wishes));
            request.again = options->force_reinstall;
            GPKG_TRY(auto change, exactly(std::move(request)));
            return carry_out(context, std::move(change), options->change);
        }
        if (wishes.specs.empty() && wishes.accelerators.empty())
            return missing_argument(app, "SPEC");
        auto request = change_request(std::move(wishes));
        request.prefix = prefix;
        request.update_all = options->update_all;
        request.reach = options->reach;
        request.is_dry_run = options->change.dry_run;
        if (options->force_reinstall) {
            for (const auto& spec : request.specs) request.reinstall.push_back(spec.name);
        }
        GPKG_TRY(auto change, decide(context, options->sources, request));
        return carry_out(context, std::move(change), options->change);
    };
}

}  // namespace gpkg::cli
