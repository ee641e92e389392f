#include "cli/workflow/confirm.hpp"

namespace gpkg::cli {

Result<void> confirm(const Context& context, const Confirmation& what) {
    auto& out = context.out;
    if (out.yes()) return {};
    if (!out.can_ask()) {
        if (what.if_unasked) return pass(*what.if_unasked);
        return {};
    }
    if (out.ask_yes_no(what.question, what.is_yes_default, context.stop).value_or(false)) return {};
    return cancelled();
}

tl::unexpected<Error> cancelled() {
    return fail(ErrorKind::Cancelled, "cancelled; nothing was changed");
}

}  // namespace gpkg::cli
