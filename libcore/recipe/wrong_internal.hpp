#pragma once

#include "libcore/base/error.hpp"

#include <string>
#include <utility>

namespace gpkg {

/// What a person wrote in a recipe's expression follows no rule.
inline tl::unexpected<Error> wrong(std::string message, std::string hint = {}) {
    return fail(ErrorKind::Parse, std::move(message), std::move(hint));
}

}  // namespace gpkg
