#pragma once

// A program that may look at the machine and do nothing to it. Another process (this program,
// started again with kConfineVerb) gives up its rights and then becomes that program: the kernel
// holds it to that, not the program's good will.

#include <span>

namespace gpkg::virtual_packages {

/// The hidden verb: `gpkg __confine [DEVICE...] -- PROGRAM [WORD...]` must do nothing but call
/// confine_main.
inline constexpr const char* kConfineVerb = "__confine";

/// What the kernel was made to refuse, on the first line of standard output, before PROGRAM speaks:
/// "confined", then each of these words that holds.
///   writing  nothing is written but to the DEVICEs, /dev/null, /dev/zero and /dev/full, nor made,
///            renamed or removed (Landlock, Linux 5.13)
///   network  no socket is opened (seccomp)
/// In any case: no rights beyond the user's are gained by a set-user-ID program and root has none
/// beyond those of its files; no file grows; no core file; it stays in its process group.
[[noreturn]] void confine_main(std::span<char* const> words);

}  // namespace gpkg::virtual_packages
