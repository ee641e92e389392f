#pragma once

#include "cli/context.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/error.hpp"
#include "libcore/spec/package_record.hpp"

#include <string>

namespace gpkg::cli {

/// Why no environment with this build can be made for the machine; empty where one can, and
/// it runs.
Result<std::string> obstacle_of(Context& context,
                                const Sources& sources,
                                const PackageRecord& record);

}  // namespace gpkg::cli
