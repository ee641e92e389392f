#pragma once

// Records of a channel, for an index of the same packages elsewhere.

#include "libcore/base/error.hpp"
#include "libcore/spec/package_record.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpkg {

/// Patch instructions (patch_instructions.hpp) by which the index of these packages says of them
/// what `records` say, wherever their own index.json, which `index_json` gives, says otherwise.
/// Empty where it never does.
Result<std::string> patch_towards(
    const std::vector<PackageRecord>& records,
    const std::function<Result<std::string>(const PackageRecord& record)>& index_json);

}  // namespace gpkg
