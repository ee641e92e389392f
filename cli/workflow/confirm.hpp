#pragma once

// Questions before something is changed.

#include "cli/context.hpp"
#include "libcore/base/error.hpp"

#include <optional>
#include <string>

namespace gpkg::cli {

struct Confirmation {
    std::string question;             ///< "Remove it?"
    bool is_yes_default = true;       ///< no: where the user may miss what is lost
    std::optional<Error> if_unasked;  ///< the failure where nobody can be asked; none: it is done
};

/// Asks, except with -y or the setting always_yes. Fails where the answer is no.
Result<void> confirm(const Context& context, const Confirmation& what);

/// The user answered no, or stopped a question.
tl::unexpected<Error> cancelled();

}  // namespace gpkg::cli
