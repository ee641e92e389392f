#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/delivery/copying.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {

Action bind_rename(CLI::App& app) {
    struct Options {
        TargetOptions target;
        ChangeOptions change;
        std::string destination;
    };
    const auto options = std::make_shared<Options>();
    auto& change = options->change;
    add_target_options(app, options->target);
    app.add_option("destination", options->destination, "new name or path")
        ->required()
        ->type_name("NAME|PATH");
    app.add_flag("-d,--dry-run", change.dry_run, "show the plan without applying it");
    add_yes_option(app);
    app.add_flag("--offline", change.offline, "use only packages in the package store");
    add_link_options(app, change);
    app.add_flag("--override-frozen",
                 change.override_frozen,
                 "rename the environment even if it is marked as frozen");
    add_script_options(app, change);
    app.footer(
        "Relinks every package, because installed files contain the path of their environment. "
        "Packages installed by pip, your own files, variables, pins and history move too.\n"
        "\n"
        "  gpkg rename -n ml ml-2024\n"
        "  gpkg rename -n ml /scratch/envs/ml\n");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto from, existing_prefix(context, options->target));
        GPKG_TRY(const auto to, new_prefix(context, target_of(options->destination)));
        GPKG_CHECK(recover_existing(context, from, options->change.dry_run));
        GPKG_CHECK(recover_prefix(context, to, options->change.dry_run));
        return rename_environment(context, from, to, options->change);
    };
}

}  // namespace gpkg::cli
