#pragma once

// Requested packages of an environment: those that the user named, not their dependencies.

#include "libcore/env/prefix.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpkg::cli {

/// Specs by package name.
using RequestedSpecs = std::map<std::string, std::vector<std::string>>;

/// The requested ones of these installed packages, by their records and by the history: other tools
/// may write only the latter.
Result<RequestedSpecs> requested_in(const fs::path& prefix,
                                    const std::vector<PrefixRecord>& records);

}  // namespace gpkg::cli
