#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/generations.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct RollbackOptions {
    TargetOptions target;
    ChangeOptions change;
    std::uint64_t number = 0;  ///< 0: the one before
};

/// The one before what is there now: where a rollback made that, before the one it went back to.
Result<Generation> generation_before(Context& context,
                                     const fs::path& prefix,
                                     const Generation& now) {
    GPKG_TRY(auto generations, generations_of(context, prefix));
    if (generations.empty()) return generation_named(prefix, 1);
    auto& last = generations.back();
    if (!same_packages(last, now)) return std::move(last);
    const auto current = last.restores == 0 ? last.number : last.restores;
    for (auto place = generations.rbegin(); place != generations.rend(); ++place) {
        if (place->number < current) return std::move(*place);
    }
    return fail(ErrorKind::NotFound,
                fmt::format("{}: there is no generation before {}", prefix.native(), current),
                "gpkg history shows those there are");
}

Result<int> roll_back(Context& context, const fs::path& prefix, const RollbackOptions& options) {
    GPKG_TRY(const auto now, present_generation(prefix));
    GPKG_TRY(const auto target,
             options.number == 0 ? generation_before(context, prefix, now)
                                 : generation_named(prefix, options.number));
    if (same_packages(now, target) && now.requested == target.requested &&
        now.state == target.state) {
        context.out.print(
            fmt::format("nothing to do: the environment is at generation {}", target.number));
        return 0;
    }
    GPKG_TRY(auto change, return_to(context, prefix, target));
    change.notes.push_back(fmt::format(
        "back to generation {} of {}: {}", target.number, target.time, command_of(target)));
    return carry_out(context, std::move(change), options.change);
}

}  // namespace

Action bind_rollback(CLI::App& app) {
    const auto options = std::make_shared<RollbackOptions>();
    app.add_option("generation",
                   options->number,
                   "number of the generation to restore (default: the previous one)")
        ->type_name("N")
        ->check(whole_number_from(1));
    add_target_options(app, options->target);
    add_change_options(app, options->change);
    app.add_flag("--offline", options->change.offline, "use only packages in the package store");
    app.footer(
        "Restores the packages, requested specs and accelerators of an earlier generation. "
        "Packages installed by pip and variables stay as they are. A rollback adds a generation "
        "and deletes none; to undo it, roll back to the number it started from.\n"
        "\n"
        "  gpkg rollback -n ml              # undo the last change\n"
        "  gpkg rollback 3 -n ml --dry-run\n");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        GPKG_CHECK(recover_prefix(context, prefix, options->change.dry_run));
        return roll_back(context, prefix, *options);
    };
}

}  // namespace gpkg::cli
