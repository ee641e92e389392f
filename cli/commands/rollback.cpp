#include "cli/command.hpp"
#include "cli/command_log.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/generations.hpp"
#include "libcore/base/moment.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct RollbackOptions {
    TargetOptions target;
    ChangeOptions change;
    std::uint64_t number = 0;  ///< 0: as generation_before() has it
};

bool is_same(const Generation& a, const Generation& b) {
    return same_packages(a, b) && a.requested == b.requested && a.state == b.state;
}

/// The latest earlier generation that differs from the present state. If a rollback made the
/// present state, "earlier" means before the generation that it restored.
Result<Generation> generation_before(Context& context,
                                     const fs::path& prefix,
                                     const Generation& now) {
    GPKG_TRY(auto generations, generations_of(context, prefix));
    if (generations.empty()) return generation_named(context, prefix, 1);
    auto& last = generations.back();
    if (!same_packages(last, now)) return std::move(last);
    const auto current = last.restores == 0 ? last.number : last.restores;
    const auto before =
        std::find_if(generations.rbegin(), generations.rend(), [&](const Generation& generation) {
            return generation.number < current && !is_same_revision(generation, now);
        });
    if (before != generations.rend()) return std::move(*before);
    const bool can_undo = last.restores != 0 && generations.size() > 1;
    const auto target = target_words(context, prefix);
    return fail(ErrorKind::NotFound,
                fmt::format("{} has no generation before {}", prefix.native(), current),
                can_undo ? fmt::format("to undo the last rollback: gpkg rollback {} {}",
                                       generations[generations.size() - 2].number,
                                       target)
                         : fmt::format("to list the generations: gpkg history {}", target));
}

/// The generation that the present state is or, if another tool changed packages, becomes with the
/// next change.
Result<std::uint64_t> number_of_present(const fs::path& prefix, const Generation& now) {
    GPKG_TRY(const auto numbers, generation_numbers(prefix));
    if (numbers.empty()) return 1;
    const auto last = read_generation(prefix, numbers.back());
    return last && same_packages(*last, now) ? numbers.back() : numbers.back() + 1;
}

Result<int> roll_back(Context& context, const fs::path& prefix, const RollbackOptions& options) {
    GPKG_TRY(const auto now, present_generation(prefix));
    GPKG_TRY(const auto target,
             options.number == 0 ? generation_before(context, prefix, now)
                                 : generation_named(context, prefix, options.number));
    if (is_same(now, target)) {
        context.out.print(fmt::format("nothing to do: {} is already the same as generation {}",
                                      environment_folders(context.config).name_of(prefix),
                                      target.number));
        return 0;
    }
    GPKG_TRY(const auto present, number_of_present(prefix, now));
    GPKG_TRY(auto change, return_to(context, prefix, target));
    change.restored_from = present;
    change.notes.push_back(fmt::format("restores generation {} of {}, the state after: {}",
                                       target.number,
                                       target.time,
                                       command_of(target)));
    return carry_out(context, std::move(change), options.change);
}

/// Says when the environment was removed, where the log of commands has it.
Error with_removal(Error error, const Context& context) {
    const auto entries = logged_commands(context.config);
    const auto removed = std::find_if(entries.rbegin(), entries.rend(), [&](const auto& entry) {
        return entry.prefix == context.prefix.native() && !entry.has_failed() &&
               removes_environment(entry);
    });
    if (removed == entries.rend()) return error;
    const auto creation = creation_of_removed(context.config, context.prefix);
    error.hint = fmt::format("it was removed on {} ({}) and cannot be restored{}",
                             local_time_text(removed->time),
                             removed->command,
                             creation.empty() ? "" : "; to create it again: " + creation);
    return error;
}

}  // namespace

Action bind_rollback(CLI::App& app) {
    const auto options = std::make_shared<RollbackOptions>();
    app.add_option("generation",
                   options->number,
                   "number of the generation to restore (default: the latest that differs)")
        ->type_name("GENERATION")
        ->check([](const std::string& text) {
            return whole_number_from(1)(text).empty()
                       ? std::string()
                       : fmt::format("'{}' does not exist; generations start at 1", text);
        });
    add_target_options(app, options->target);
    add_change_options(app, options->change);
    app.add_flag("--offline", options->change.offline, "use only packages in the package store");
    app.footer(
        "Restores the packages, requested specs and accelerators of an earlier generation: "
        "without a number, of the latest one that differs from the present packages and "
        "accelerators. It asks only on a terminal, also before removing requested packages. "
        "Packages installed by pip and variables stay as they are. A rollback adds a generation "
        "and deletes none; to redo the change, roll back to the number that it prints.\n"
        "\n"
        "  gpkg rollback -n ml              # undo the last change\n"
        "  gpkg rollback 3 -n ml --dry-run\n");

    return [options](Context& context) -> Result<int> {
        auto found = existing_prefix(context, options->target);
        if (!found && found.error().kind == ErrorKind::NoEnvironment)
            return pass(with_removal(std::move(found).error(), context));
        GPKG_TRY(const auto prefix, std::move(found));
        GPKG_CHECK(begin_change(context, prefix, options->change));
        return roll_back(context, prefix, *options);
    };
}

}  // namespace gpkg::cli
