#pragma once

// Python scripts that name the packages they need: the `# /// script` block of PEP 723.

#include "libcore/base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Specs of the block's dependencies and requires-python: "python>=3.11", "requests<3". Empty
/// without a block. Fails for dependencies that no spec can express: extras, markers and URLs.
Result<std::vector<std::string>> inline_script_specs(std::string_view script);

}  // namespace gpkg
