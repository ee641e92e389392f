#pragma once

// What records that belong together ask of each other in vain: those of an environment, or of a
// class of a lock. What is asked on a condition (CEP 43) is left out, and so is from where a
// package comes: that was decided when it was chosen, and a mirror has another name.

#include "libcore/spec/package_record.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace gpkg {

/// The record of a name; null where there is none.
using FindRecord = std::function<const PackageRecord*(std::string_view name)>;

/// "needs zlib >=1.3, found 1.2 0"; empty where it is met, or cannot be read.
std::string unmet_dependency(const std::string& depend, const FindRecord& find);

/// "allows only zlib <2, found 2.0 0"; empty where it is kept, or cannot be read.
std::string broken_restriction(const std::string& restriction, const FindRecord& find);

}  // namespace gpkg
