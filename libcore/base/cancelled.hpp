#pragma once

// Work that may take long asks now and then whether it is still wanted.

#include "libcore/base/error.hpp"

#include <functional>

namespace gpkg {

/// True: stop. Empty: nobody will ask for that.
using Cancelled = std::function<bool()>;

inline Result<void> check_cancelled(const Cancelled& cancelled) {
    if (cancelled && cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
    return {};
}

}  // namespace gpkg
