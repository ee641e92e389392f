#pragma once

// Whether what a class of a lock holds is what one solve can have decided. A lock that was merged
// or changed by hand may not be, and the environment made of it would not run.

#include "libcore/lock/lock_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg {

/// A line for each flaw: a package of which there are two, a dependency that is not met by the
/// class' own packages or a restriction that they break, one for another platform, needs that are
/// not what its packages and the request ask of a machine. Reads nothing else.
std::vector<std::string> flaws_of(const LockFile& lock, const LockedClass& locked);

/// The first flaw of a class of the default environment: "a100: it needs __glibc >=2.28, which its
/// needs do not say".
std::optional<std::string> flaw_in(const LockFile& lock);

}  // namespace gpkg
