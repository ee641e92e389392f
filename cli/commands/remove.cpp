#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/help.hpp"
#include "cli/options.hpp"
#include "cli/workflow/removal.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

struct RemoveOptions {
    TargetOptions target;
    ChangeOptions change;
    std::vector<std::string> specs;
    bool all = false;
    // conda's options, without an effect here.
    bool offline = false;
    std::vector<std::string> channels;
    bool override_channels = false;
};

void add_removal_options(CLI::App& app, RemoveOptions& options) {
    add_target_options(app, options.target);
    app.add_flag("-d,--dry-run", options.change.dry_run, "show the plan without applying it");
    add_yes_option(app, "remove without asking");
    app.add_flag("--override-frozen",
                 options.change.override_frozen,
                 "change the environment even if it is marked as frozen");
    add_script_options(app, options.change);
}

/// As begin_change(), for who wants to be rid of the environment: a copy of it is no help.
Result<void> begin_removal(Context& context, const fs::path& prefix, const ChangeOptions& options) {
    auto begun = begin_change(context, prefix, options);
    if (!begun && begun.error().kind == ErrorKind::Io) begun.error().hint.clear();
    return begun;
}

Result<int> remove_whole(Context& context, const fs::path& prefix, const ChangeOptions& options) {
    // The undoing of an interrupted creation has removed it already.
    if (!options.dry_run && !Prefix::is_environment(prefix) &&
        prefix_condition(prefix) == PrefixCondition::Interrupted) {
        GPKG_CHECK(recover_interrupted(context, prefix, false));
        if (!Prefix::is_environment(prefix)) {
            context.out.print("nothing is left to remove");
            if (context.out.json_mode())
                context.out.json({{"success", true}, {"prefix", prefix.native()}});
            return 0;
        }
    }
    GPKG_CHECK(begin_removal(context, prefix, options));
    return remove_environment(context, prefix, options);
}

/// Who types "gpkg uninstall" alone may mean gpkg itself.
tl::unexpected<Error> nothing_named(const CLI::App& app) {
    return fail(ErrorKind::Usage,
                full_name(app) + ": missing argument: SPEC",
                "packages: gpkg remove -n NAME PACKAGE; an environment: gpkg env remove -n NAME; "
                "gpkg itself: " +
                    documentation_page("how-to/uninstall-gpkg.md"));
}

}  // namespace

Action bind_env_remove(CLI::App& app) {
    const auto options = std::make_shared<RemoveOptions>();
    add_removal_options(app, *options);
    app.footer(
        "Removes an environment with all files in it, your own included. Asks first; scripts need "
        "-y.\n\n"
        "  gpkg env remove -n ml\n"
        "  gpkg env remove -p ./env -y");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        return remove_whole(context, prefix, options->change);
    };
}

Action bind_remove(CLI::App& app) {
    const auto options = std::make_shared<RemoveOptions>();
    add_removal_options(app, *options);
    app.add_option("specs", options->specs, "packages to remove")->type_name("SPEC");
    app.add_flag("--all", options->all, "remove the whole environment");
    app.add_flag("--offline", options->offline, "ignored: removing packages needs no network");
    app.add_option("-c,--channel", options->channels, "ignored: removing packages uses no channel")
        ->type_name("CHANNEL");
    app.add_flag("--override-channels",
                 options->override_channels,
                 "ignored: removing packages uses no channel");
    app.footer(
        "Removes packages, the packages that depend on them, and dependencies that nothing needs "
        "any more. To remove gpkg itself: how-to/uninstall-gpkg.md.\nAsks first; scripts need "
        "-y.\n\n"
        "  gpkg remove -n ml torch\n"
        "  gpkg remove -n ml torch torchvision -y\n"
        "  gpkg remove -n ml --all                  # the whole environment");

    return [options, &app](Context& context) -> Result<int> {
        if (options->specs.empty() && !options->all) return nothing_named(app);
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        if (options->all) {
            if (!options->specs.empty())
                return fail(ErrorKind::Usage, "--all cannot be used with package names");
            return remove_whole(context, prefix, options->change);
        }
        GPKG_CHECK(begin_change(context, prefix, options->change));
        GPKG_TRY(const auto specs, parse_specs(options->specs));
        GPKG_TRY(auto change, removal(prefix, specs));
        return carry_out(context, std::move(change), options->change);
    };
}

}  // namespace gpkg::cli
