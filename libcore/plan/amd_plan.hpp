#pragma once

// The targets of one build for AMD's devices.

#include <map>
#include <string>
#include <vector>

namespace gpkg {

struct AmdPlan {
    std::vector<std::string> targets;              ///< by name
    std::map<std::string, std::string> served_by;  ///< the target by device
};

/// Each device's own target; with `generic` one for all of a family of which there are several.
AmdPlan plan_amd(const std::vector<std::string>& devices, bool generic);

}  // namespace gpkg
