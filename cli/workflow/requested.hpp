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

/// "numpy<2 -> numpy", "new: scipy", "removed: pandas": how the packages of `after` are requested
/// now. One without specs is not requested any more. Specs that are written alike do not differ.
std::vector<std::string> requested_changes(const RequestedSpecs& before,
                                           const RequestedSpecs& after);

}  // namespace gpkg::cli
