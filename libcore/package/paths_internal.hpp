#pragma once

// What may stand in a package's file list.

#include "libcore/package/paths.hpp"

namespace gpkg {

/// The clean form of a payload path; refuses unsafe ones, info/ and the records in conda-meta/.
Result<std::string> checked_payload_path(std::string_view path, std::string_view what);

Result<void> refuse_duplicates(const std::vector<PathEntry>& entries, std::string_view what);

}  // namespace gpkg
