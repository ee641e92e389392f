#pragma once

// Shared libraries that are the machine's own: no package holds them, no package has to be depended
// on for them.

#include <string_view>

namespace gpkg {

/// Whether the name is that of a shared library: "libz.so", "libz.so.1.2", "_ssl.cpython-311.so".
bool is_shared_library_name(std::string_view name);

/// glibc's libraries and its loader.
bool is_glibc_library(std::string_view name);

/// What a graphics driver brings: it fits the kernel's module and nothing else, so that a copy in a
/// package breaks on the next machine.
bool is_driver_library(std::string_view name);

/// Whether a file or folder lies in a folder of stubs: libraries without code, for the linker.
bool is_in_stubs(std::string_view path);

}  // namespace gpkg
