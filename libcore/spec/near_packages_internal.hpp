#pragma once

#include <string_view>

namespace gpkg {

/// The text of import_names.txt.
extern const std::string_view kImportNames;

}  // namespace gpkg
