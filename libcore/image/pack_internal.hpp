#pragma once

#include <string_view>

namespace gpkg {

/// relocate.sh and activate.sh.
extern const std::string_view kRelocateScript;
extern const std::string_view kActivateScript;

}  // namespace gpkg
