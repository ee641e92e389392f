#pragma once

// What is told to people of the classes of a lock on a machine.

#include "libcore/classes/class_fit.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What a class asks of its machine: "__glibc >=2.28; where there is one: __cuda >=12".
std::string needs_text(const LockFile& lock, const LockedClass& locked);

/// What puts the first, which fits, before the others that do: "has builds for the GPU that is
/// there", "is the only one that fits".
std::string advantage_of_first(const std::vector<ClassFit>& fits);

/// How a class stands to the machine, in one line: "is taken: it has builds for the GPU that is
/// there; of use with __cuda >=12", "fits", "it needs __cuda, and there is none".
std::string standing_of(const ClassFit& fit, const std::vector<ClassFit>& fits);

/// What is to be known where the first is taken, beside that: that its builds do not run there, or
/// that there is nothing of what they are of use with. `machine`: "this machine".
std::vector<std::string> notes_on_first(const std::vector<ClassFit>& fits,
                                        std::string_view machine);

}  // namespace gpkg
