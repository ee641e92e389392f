#pragma once

#include "libcore/fs/file.hpp"

#include <vector>

namespace gpkg {

/// The recipe files in and below `folder`; folders below a recipe are its own affair.
Result<std::vector<fs::path>> find_recipes(const fs::path& folder);

}  // namespace gpkg
