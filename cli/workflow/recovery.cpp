#include "cli/environments.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/health/damage.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/moved.hpp"

#include <fmt/format.h>

namespace gpkg::cli {

TransactionOptions transaction_options(Context& context, const ChangeOptions& options) {
    TransactionOptions how;
    how.link = link_method_of(options.link.empty() ? context.config.link.value : options.link)
                   .value_or(LinkMethod::Auto);
    how.override_frozen = options.override_frozen;
    how.root_prefix = context.config.root_prefix.value;
    how.cancelled = [&] { return context.stop.stop_requested(); };
    how.waiting = [&](const std::string& holder) {
        context.out.note(fmt::format("waiting for {} to finish with this environment",
                                     holder.empty() ? "another process" : holder));
    };
    return how;
}

Result<Recovery> recover_interrupted(Context& context, const fs::path& prefix, bool dry_run) {
    if (dry_run) {
        tell_if_interrupted(context, prefix);
        return Recovery::Nothing;
    }
    const bool is_interrupted = prefix_condition(prefix) == PrefixCondition::Interrupted;
    auto done = recover(prefix, transaction_options(context, {}));
    if (!done && is_interrupted)
        return pass(std::move(done).error().while_doing(
            fmt::format("{}: an earlier command was interrupted and cannot be undone or completed",
                        prefix.native())));
    GPKG_TRY(const auto recovery, std::move(done));
    if (recovery == Recovery::RolledBack) {
        std::error_code ignored;
        const bool others = fs::exists(prefix, ignored) && !Prefix::is_environment(prefix);
        context.out.note(fmt::format("{}: an interrupted command was undone{}",
                                     prefix.native(),
                                     others ? "; files of other programs are kept" : ""));
    }
    if (recovery == Recovery::Completed)
        context.out.note(fmt::format("{}: an interrupted command was completed", prefix.native()));
    return recovery;
}

Result<Recovery> recover_prefix(Context& context, const fs::path& prefix, bool dry_run) {
    GPKG_TRY(const auto recovery, recover_interrupted(context, prefix, dry_run));
    warn_if_moved(context, prefix);
    return recovery;
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
    if (prefix_condition(prefix) == PrefixCondition::Interrupted)
        context.out.warn(
            fmt::format("{}: an earlier command was interrupted; the next change or "
                        "gpkg repair {} will complete or undo it",
                        prefix.native(),
                        target_words(context, prefix)));
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
    GPKG_CHECK(recover_prefix(context, prefix, false));
    return {};
}

}  // namespace gpkg::cli
