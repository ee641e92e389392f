#pragma once

// Which program this is. A gpkg that brings its own C library (recipes/gpkg) is started by a
// dynamic loader of its own, and that is then what the kernel takes for the program.

#include "libcore/fs/file.hpp"

#include <optional>
#include <string_view>

namespace gpkg {

/// What to run to run this program again.
Result<fs::path> own_program();

/// Whether the C library of this process is one that came with it, and not the machine's.
bool has_own_c_library();

/// Of a process of which the kernel says that it runs `exe` (/proc/self/exe), begun with `words`
/// (/proc/self/cmdline, each ended by a NUL): the program that the loader was told to be
/// (--argv0), or nothing where no loader was begun.
std::optional<fs::path> program_of_loader(const fs::path& exe, std::string_view words);

}  // namespace gpkg
