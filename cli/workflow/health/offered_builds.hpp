#pragma once

// Which builds the configured channels have, as far as that is known without asking anybody: a
// checkup fetches nothing.

#include "cli/context.hpp"
#include "cli/workflow/source_options.hpp"
#include "libcore/hardware/accelerator.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// Whether they have a build of a package for an accelerator, of which `machine`, the machine's
/// virtual packages, lacks nothing. `sources` name the machine.
bool is_offered(Context& context,
                SourceOptions sources,
                const std::vector<PackageRecord>& machine,
                const std::string& name,
                Accelerator accelerator);

}  // namespace gpkg::cli
