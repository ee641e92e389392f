#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/removal.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {
namespace {

struct RemoveOptions {
    TargetOptions target;
    ChangeOptions change;
    std::vector<std::string> specs;
    bool all = false;
    // Conda's, which change nothing here.
    bool offline = false;
    std::vector<std::string> channels;
    bool override_channels = false;
};

void add_removal_options(CLI::App& app, RemoveOptions& options) {
    add_target_options(app, options.target);
    app.add_flag("-d,--dry-run", options.change.dry_run, "show what would be done, and stop");
    app.add_flag("-y,--yes", options.change.yes, "do not ask");
    app.add_flag("--override-frozen",
                 options.change.override_frozen,
                 "change the environment although it is marked as frozen");
    add_script_options(app, options.change);
}

}  // namespace

Action bind_env_remove(CLI::App& app) {
    const auto options = std::make_shared<RemoveOptions>();
    add_removal_options(app, *options);
    app.footer("Removes the environment with all that is in it.\n  gpkg env remove -n ml");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        GPKG_CHECK(recover_prefix(context, prefix, options->change.dry_run));
        return remove_environment(context, prefix, options->change);
    };
}

Action bind_remove(CLI::App& app) {
    const auto options = std::make_shared<RemoveOptions>();
    add_removal_options(app, *options);
    app.add_option("specs", options->specs, "packages to remove")->type_name("SPEC");
    app.add_flag("--all", options->all, "remove the whole environment");
    app.add_flag("--offline", options->offline, "accepted; removing never needs the network");
    app.add_option("-c,--channel", options->channels, "accepted; removing asks no channel")
        ->type_name("CHANNEL");
    app.add_flag("--override-channels", options->override_channels, "accepted, as --channel is");
    app.footer(
        "What needs a removed package goes too, and so does what only it needed.\n"
        "  gpkg remove -n ml torch\n"
        "  gpkg remove -n ml --all");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        GPKG_CHECK(recover_prefix(context, prefix, options->change.dry_run));
        if (options->all) {
            if (!options->specs.empty())
                return fail(ErrorKind::Usage,
                            "--all removes everything: name no packages beside it");
            return remove_environment(context, prefix, options->change);
        }
        if (options->specs.empty())
            return fail(ErrorKind::Usage,
                        "nothing to remove was named",
                        "name packages, or say --all for the whole environment");
        GPKG_TRY(const auto specs, parse_specs(options->specs));
        GPKG_TRY(auto change, removal(prefix, specs));
        return carry_out(context, std::move(change), options->change);
    };
}

}  // namespace gpkg::cli
