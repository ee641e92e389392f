#pragma once

#include "cli/context.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/error.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/package_record.hpp"

#include <string>
#include <string_view>

namespace gpkg::cli {

/// "needs __cuda >=12, but this machine has no NVIDIA driver"
std::string unmet_text(const UnmetNeed& need, std::string_view machine);

/// Why no environment with this build can be made for the machine; empty where one can, and
/// it runs.
Result<std::string> obstacle_of(Context& context,
                                const Sources& sources,
                                const PackageRecord& record);

}  // namespace gpkg::cli
