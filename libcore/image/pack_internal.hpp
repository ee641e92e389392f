#pragma once

#include <string_view>

namespace gpkg {

/// The scripts of that name.
extern const std::string_view kRelocateScript;
extern const std::string_view kActivateSh;
extern const std::string_view kActivateFish;
extern const std::string_view kActivateCsh;
extern const std::string_view kDeactivateCsh;

}  // namespace gpkg
