#pragma once

#include "libcore/redist/component_layout.hpp"

#include <set>
#include <string>

namespace gpkg {

/// The bash script of a recipe's staging output: lays the unpacked archive out into $PREFIX, and
/// ends the build for a file that is in no package, when these are the parts that have one.
std::string staging_script(const RedistLayout& layout, const std::set<RedistPart>& parts);

}  // namespace gpkg
