#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/health/damage.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {

Action bind_repair(CLI::App& app) {
    struct Options {
        TargetOptions target;
        ChangeOptions change;
        bool store = false;
    };
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    add_change_options(app, options->change);
    app.add_flag("--offline", options->change.offline, "take packages from the store only");
    app.add_flag("--store", options->store, "the packages of the store, not an environment")
        ->excludes("--name")
        ->excludes("--prefix");
    app.footer(
        "Brings an interrupted command to an end, and links packages anew whose files differ from "
        "what\n"
        "they promised; your changes to such files are lost. gpkg verify shows them.\n"
        "  gpkg repair -n ml --dry-run\n"
        "  gpkg repair --store");

    return [options](Context& context) -> Result<int> {
        if (options->store) return repair_store(context, options->change);
        GPKG_TRY(const auto prefix, target_prefix(context, options->target));
        return repair_environment(context, prefix, options->change);
    };
}

}  // namespace gpkg::cli
