#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/delivery/copying.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/sources.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

/// `default_file` is read when neither packages nor files are named; empty: none is.
Action bind(CLI::App& app, const std::string& default_file) {
    struct Options {
        TargetOptions target;
        SourceOptions sources;
        ChangeOptions change;
        ReachOptions reach;
        WishOptions wishes;
        std::string clone;
        LockedOptions lock;
    };
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_change_options(app, options->change);
    add_reach_options(app, options->reach, ReachVerb::Create);
    add_wish_options(app, options->wishes);
    app.add_option("--clone", options->clone, "make it a copy of this environment")
        ->type_name("NAME|PATH");
    add_lock_options(
        app, "--lock", "with the packages that this lock file has for here", options->lock);
    app.footer(
        "Nothing that exists is overwritten.\n"
        "  gpkg create -n ml torch\n"
        "  gpkg create -n ml -f environment.yml");

    return [options, default_file](Context& context) -> Result<int> {
        options->change.offline = options->sources.offline;
        auto& named = options->wishes;
        if (named.specs.empty() && named.files.empty() && options->clone.empty() &&
            options->lock.file.empty() && !default_file.empty())
            named.files = {default_file};
        named.ignore_names = !options->target.name.empty() || !options->target.prefix.empty();
        GPKG_TRY(auto wishes, read_wishes(context, options->wishes, options->sources));
        if (options->target.name.empty() && options->target.prefix.empty()) {
            options->target.name = wishes.name;
            // A prefix is often another machine's, written by an export.
            if (wishes.name.empty()) options->target.prefix = wishes.prefix;
            if (wishes.name.empty() && wishes.prefix.empty())
                return fail(ErrorKind::Usage,
                            "the new environment needs a name or a path",
                            "-n NAME or -p PATH; an environment.yml may have its own name:");
        }
        GPKG_TRY(const auto prefix, new_prefix(context, options->target));
        GPKG_CHECK(recover_prefix(context, prefix, options->change.dry_run));
        GPKG_CHECK(check_free(context, prefix));

        if (!options->clone.empty()) {
            if (!wishes.accelerators.empty())
                return fail(ErrorKind::Usage,
                            "--clone makes a copy as it is: an accelerator has no say in it",
                            "gpkg install --accel changes the copy");
            if (!wishes.specs.empty() || !wishes.files.empty())
                return fail(ErrorKind::Usage,
                            "--clone makes a copy as it is: name no packages beside it",
                            "gpkg install adds to the copy");
            GPKG_TRY(const auto original, existing_prefix(context, target_of(options->clone)));
            return clone_environment(context, original, prefix, options->change);
        }
        if (!options->lock.file.empty()) {
            const auto& [freeze, update_deps, only_deps, no_deps, no_pin] = options->reach;
            if (only_deps || no_deps || !options->sources.exclude_newer.empty() ||
                !options->sources.channel_priority.empty())
                return fail(ErrorKind::Usage,
                            "--lock names all packages: nothing is decided that --no-deps, "
                            "--only-deps, --exclude-newer or --channel-priority could change");
            if (!wishes.accelerators.empty())
                return fail(ErrorKind::Usage,
                            "--lock names all packages: an accelerator has no say in it",
                            "gpkg lock --accel makes another lock");
            if (!wishes.specs.empty() || !wishes.files.empty())
                return fail(ErrorKind::Usage,
                            "--lock names all packages: no others can stand beside it",
                            "gpkg install adds to the environment");
            GPKG_TRY(auto locked, locked_request(context, options->sources, options->lock, prefix));
            GPKG_TRY(auto change, exactly(std::move(locked)));
            return carry_out(context, std::move(change), options->change);
        }
        // Package files, or an empty environment: no channel has a say in it.
        if (wishes.specs.empty()) {
            if (!wishes.files.empty() && !wishes.accelerators.empty())
                return fail(ErrorKind::Usage,
                            "package files are installed as they are: an accelerator has no say");
            if (wishes.files.empty())
                GPKG_CHECK(heed_usual_accelerator(context, wishes.accelerators));
            GPKG_TRY(auto change, exactly(explicit_request(prefix, std::move(wishes))));
            return carry_out(context, std::move(change), options->change);
        }
        auto request = change_request(std::move(wishes));
        request.prefix = prefix;
        GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
        request.reach = options->reach;
        request.is_dry_run = options->change.dry_run;
        GPKG_TRY(auto change, decide(context, options->sources, request));
        return carry_out(context, std::move(change), options->change);
    };
}

}  // namespace

Action bind_create(CLI::App& app) { return bind(app, ""); }
Action bind_env_create(CLI::App& app) { return bind(app, "environment.yml"); }

}  // namespace gpkg::cli
