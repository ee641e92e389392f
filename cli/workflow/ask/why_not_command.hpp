#pragma once

// The command that asks why a package is not in the solution of the current command.

#include "cli/context.hpp"
#include "libcore/solve/solve.hpp"

#include <string>

namespace gpkg::cli {

/// "gpkg why-not 'pytorch=2.12.0=cuda*' pytorch numpy --for h100": the request of this command, or
/// the environment where packages are installed.
std::string why_not_command(const Context& context,
                            const std::string& spec,
                            const Request& request);

}  // namespace gpkg::cli
