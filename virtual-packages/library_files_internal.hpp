#pragma once

// Where the loader would find a library, without loading it.

#include "virtual-packages/host.hpp"

#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// The files the loader may take for `library`: itself where it is a path, else those of that name
/// on LD_LIBRARY_PATH, in ld.so.cache and in the loader's own folders. Only what exists.
std::vector<fs::path> library_files(const Host& host, std::string_view library);

}  // namespace gpkg::virtual_packages
