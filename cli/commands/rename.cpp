#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/delivery/copying.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct RenameOptions {
    TargetOptions target;
    ChangeOptions change;
    std::vector<std::string> names;  ///< the new one, or the old one and the new one
};

/// The environment to rename: of -n or -p, the first of two names, or the active one.
Result<TargetOptions> old_target(const RenameOptions& options) {
    if (options.names.size() == 1) return options.target;
    const auto& target = options.target;
    if (target.name.empty() && target.prefix.empty()) return target_of(options.names.front());
    return fail(ErrorKind::Usage,
                fmt::format("gpkg rename: unexpected argument '{}'", options.names.back()),
                "with -n or -p the only argument is the new name: gpkg rename -n OLD NEW");
}

}  // namespace

Action bind_rename(CLI::App& app) {
    const auto options = std::make_shared<RenameOptions>();
    auto& change = options->change;
    add_target_options(app, options->target);
    app.add_option(
           "names", options->names, "new name or path; without -n and -p, the old one first")
        ->required()
        ->expected(1, 2)
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
        "  gpkg rename ml ml-2024\n"
        "  gpkg rename ml /scratch/envs/ml\n"
        "  gpkg rename -p ./env ml\n");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto target, old_target(*options));
        GPKG_TRY(const auto from, existing_prefix(context, target));
        GPKG_TRY(const auto to, new_prefix(context, target_of(options->names.back())));
        GPKG_CHECK(recover_existing(context, from, options->change.dry_run));
        GPKG_CHECK(recover_prefix(context, to, options->change.dry_run));
        return rename_environment(context, from, to, options->change);
    };
}

}  // namespace gpkg::cli
