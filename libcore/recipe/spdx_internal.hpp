#pragma once

#include <string_view>

namespace gpkg {

/// All names of licences and of exceptions, separated by blanks and line ends.
extern const std::string_view kSpdxLicenses;
extern const std::string_view kDeprecatedSpdxLicenses;
extern const std::string_view kSpdxExceptions;

}  // namespace gpkg
