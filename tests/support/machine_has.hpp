#pragma once

#include "libcore/spec/package_record.hpp"

#include <string>
#include <utility>

namespace gpkg::tests {

/// A virtual package of a machine, or a record of which no more than that matters.
inline PackageRecord machine_has(std::string name, std::string version, std::string build = "0") {
    PackageRecord made;
    made.name = std::move(name);
    made.version = std::move(version);
    made.build = std::move(build);
    return made;
}

}  // namespace gpkg::tests
