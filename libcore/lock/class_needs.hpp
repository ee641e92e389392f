#pragma once

// What packages ask of a machine, together.

#include "libcore/spec/package_record.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Whether run constraints (constrains) on a virtual package narrow what depends on it.
enum class RunConstraints { Count, Ignore };

/// The least that records ask of a machine, and what is `asked` of it beside them: for each virtual
/// package the range in which all of that holds. What they ask on a condition is left out, and so
/// are specs on other packages.
std::vector<std::string> least_needs(const std::vector<PackageRecord>& records,
                                     const std::vector<std::string>& asked = {},
                                     RunConstraints constraints = RunConstraints::Count);

/// Whether a machine that has all of `needs` has what is `asked`: one of them is the same, or a
/// range within it.
bool demand(const std::vector<std::string>& needs, const std::string& asked);

}  // namespace gpkg
