#pragma once

// What may stand in a package's file list.

#include "libcore/package/paths.hpp"

namespace gpkg {

Result<void> refuse_duplicates(const std::vector<PathEntry>& entries, std::string_view what);

}  // namespace gpkg
