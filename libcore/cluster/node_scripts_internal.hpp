#pragma once

// What runs on nodes, the texts of *.sh. Each stands behind kNodeScript.

#include <string_view>

namespace gpkg {

extern const std::string_view kNodeScript;
extern const std::string_view kLookScript;
extern const std::string_view kArriveScript;
extern const std::string_view kRelayScript;
extern const std::string_view kRemoveScript;
extern const std::string_view kDropScript;
extern const std::string_view kEpilogScript;  ///< alone

}  // namespace gpkg
