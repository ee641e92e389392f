#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/health/damage.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

/// All environments, also where one cannot be repaired.
Result<int> repair_all(Context& context, const ChangeOptions& options) {
    if (context.out.json_mode()) return fail(ErrorKind::Usage, "--all cannot be used with --json");
    int status = 0;
    for (const auto& prefix : all_environments(context)) {
        GPKG_CHECK(check_stop(context));
        context.out.print(fmt::format("{}:", prefix.native()));
        const auto repaired = repair_environment(context, prefix, options);
        if (!repaired && repaired.error().kind == ErrorKind::Cancelled)
            return pass(repaired.error());
        if (!repaired) context.out.note_failure("error: " + repaired.error().to_string());
        if (!repaired || *repaired != 0) status = 1;
    }
    return status;
}

}  // namespace

Action bind_repair(CLI::App& app) {
    struct Options {
        TargetOptions target;
        ChangeOptions change;
        bool store = false;
        bool all = false;
    };
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    add_change_options(app, options->change);
    app.add_flag("--offline", options->change.offline, "use only packages in the package store");
    app.add_flag("--store", options->store, "repair the package store, not an environment")
        ->excludes("--name")
        ->excludes("--prefix");
    app.add_flag("--all", options->all, "repair all environments")
        ->excludes("--name")
        ->excludes("--prefix")
        ->excludes("--store");
    app.footer(
        "Completes or undoes an interrupted command, then relinks packages with missing or changed "
        "files. In an environment that was moved with mv, it relinks all packages whose files "
        "contain the old path. Your own changes to files of packages are lost; `gpkg verify` lists "
        "them.\n"
        "\n"
        "  gpkg repair -n ml --dry-run\n"
        "  gpkg repair -n ml\n"
        "  gpkg repair --all\n"
        "  gpkg repair --store\n");

    return [options](Context& context) -> Result<int> {
        if (options->all) return repair_all(context, options->change);
        if (options->store) return repair_store(context, options->change);
        GPKG_TRY(const auto prefix, target_prefix(context, options->target));
        auto status = repair_environment(context, prefix, options->change);
        // Its error names what was interrupted, and similar names.
        if (!status && status.error().kind == ErrorKind::NoEnvironment)
            GPKG_CHECK(existing_prefix(context, options->target));
        return status;
    };
}

}  // namespace gpkg::cli
