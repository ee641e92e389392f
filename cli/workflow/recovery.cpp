#include "cli/environments.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/generations.hpp"
#include "cli/workflow/health/damage.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/moved.hpp"
#include "libcore/env/prefix_lock.hpp"

#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace gpkg::cli {

TransactionOptions transaction_options(Context& context, const ChangeOptions& options) {
    TransactionOptions how;
    how.link = link_method_of(options.link.empty() ? context.config.link.value : options.link)
                   .value_or(LinkMethod::Auto);
    how.override_frozen = options.override_frozen;
    how.root_prefix = context.config.root_prefix.value;
    how.cancelled = [&] { return context.stop.stop_requested(); };
    how.warn = [&](const std::string& warning) { context.out.warn_once(warning); };
    how.waiting = [&](const std::string& holder) {
        context.out.note(fmt::format("waiting for {} to finish with this environment",
                                     holder.empty() ? "another process" : holder));
    };
    return how;
}

namespace {

struct Undone {
    Recovery recovery = Recovery::Nothing;
    std::string command;             ///< as typed; empty: unknown
    bool is_no_environment = false;  ///< the command was creating it
    bool has_others = false;         ///< files of other programs are left in the folder
};

Result<Undone> undo(Context& context, const fs::path& prefix) {
    const bool is_interrupted = prefix_condition(prefix) == PrefixCondition::Interrupted;
    Undone undone;
    if (is_interrupted) undone.command = typed_command(unfinished_command(prefix));
    auto done = recover(prefix, transaction_options(context, {}));
    if (!done && is_interrupted)
        return pass(std::move(done).error().while_doing(
            fmt::format("{}: an earlier command was interrupted and cannot be undone or completed",
                        prefix.native())));
    GPKG_TRY(undone.recovery, std::move(done));
    std::error_code ignored;
    undone.is_no_environment =
        undone.recovery == Recovery::RolledBack && !Prefix::is_environment(prefix);
    undone.has_others = undone.is_no_environment && fs::exists(prefix, ignored);
    return undone;
}

std::string_view kept_files_text(const Undone& undone) {
    return undone.has_others ? "; files of other programs are kept" : "";
}

void tell(Context& context, const fs::path& prefix, const Undone& undone) {
    if (undone.recovery == Recovery::Nothing) return;
    const bool is_undone = undone.recovery == Recovery::RolledBack;
    const bool is_removal = !is_undone && !Prefix::is_environment(prefix);
    const auto what = !undone.command.empty() ? fmt::format("the interrupted `{}`", undone.command)
                      : is_removal            ? std::string("an interrupted removal")
                                              : std::string("an interrupted command");
    context.out.note(fmt::format("{}: {} was {}{}",
                                 prefix.native(),
                                 what,
                                 is_undone ? "undone" : "completed",
                                 kept_files_text(undone)));
}

}  // namespace

Result<Recovery> recover_interrupted(Context& context, const fs::path& prefix, bool dry_run) {
    if (dry_run) {
        tell_if_interrupted(context, prefix);
        return Recovery::Nothing;
    }
    GPKG_TRY(const auto undone, undo(context, prefix));
    tell(context, prefix, undone);
    return undone.recovery;
}

Result<Recovery> recover_prefix(Context& context, const fs::path& prefix, bool dry_run) {
    GPKG_TRY(const auto recovery, recover_interrupted(context, prefix, dry_run));
    warn_if_moved(context, prefix);
    return recovery;
}

Result<void> recover_existing(Context& context, const fs::path& prefix, bool dry_run) {
    if (dry_run) {
        tell_condition(context, prefix);
        return {};
    }
    GPKG_TRY(const auto undone, undo(context, prefix));
    if (undone.is_no_environment)
        return fail(ErrorKind::NoEnvironment,
                    fmt::format("creating {} was interrupted and has been undone{}",
                                prefix.native(),
                                kept_files_text(undone)),
                    undone.command.empty() ? "to create it again: gpkg create"
                                           : "run again: " + undone.command);
    tell(context, prefix, undone);
    warn_if_moved(context, prefix);
    return {};
}

Result<void> begin_change(Context& context, const fs::path& prefix, const ChangeOptions& options) {
    if (auto allowed = check_may_change(prefix); !allowed && !options.download_only) {
        if (!options.dry_run) return allowed;
        context.out.note("note: " + allowed.error().message);
    }
    return recover_existing(context, prefix, options.dry_run);
}

void warn_if_moved(Context& context, const fs::path& prefix) {
    // gpkg, conda and mamba register every environment that they create: this one is where it was.
    if (is_registered(prefix, context.home)) return;
    if (const auto old = moved_from(prefix))
        context.out.warn_once(moved_text(context, prefix, *old));
}

void tell_condition(Context& context, const fs::path& prefix) {
    tell_if_interrupted(context, prefix);
    warn_if_moved(context, prefix);
}

void tell_if_interrupted(Context& context, const fs::path& prefix) {
    if (prefix_condition(prefix) != PrefixCondition::Interrupted) return;
    // Without a history, a command that is known was creating the environment.
    const bool is_creation = !Prefix::is_environment(prefix) && !unfinished_command(prefix).empty();
    context.out.warn(fmt::format(
        "{}: {}; the next command that changes or runs it, or gpkg repair {}, will {} it",
        prefix.native(),
        interruption_text(prefix),
        target_words(context, prefix),
        is_creation ? "undo" : "complete or undo"));
}

std::string interruption_text(const fs::path& prefix) {
    const auto command = unfinished_command(prefix);
    return command.empty() ? "an earlier command was interrupted"
                           : fmt::format("`{}` was interrupted", typed_command(command));
}

Result<void> recover_for_use(Context& context, const fs::path& prefix) {
    warn_if_moved(context, prefix);
    switch (prefix_condition(prefix)) {
    case PrefixCondition::Settled: return {};
    case PrefixCondition::Busy:
        context.out.warn(
            fmt::format("{} is being changed by {}", prefix.native(), lock_holder(prefix)));
        return {};
    case PrefixCondition::Interrupted: break;
    }
    return recover_existing(context, prefix, false);
}

}  // namespace gpkg::cli
