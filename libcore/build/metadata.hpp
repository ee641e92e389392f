#pragma once

// The files of info/ that a built package carries (CEP 34, CEP 40).

#include "libcore/build/payload.hpp"
#include "libcore/build/run_exports.hpp"
#include "libcore/recipe/recipe.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace gpkg {

/// The version of the gpkg that builds.
std::string_view builder_version();

struct MetadataInput {
    const Recipe& recipe;
    const RenderedOutput& output;
    const Payload& payload;
    const RunDependencies& run;
    const BuildEnvironments& environments;
    std::int64_t timestamp_ms = 0;  ///< start of the build
    fs::path work;                  ///< SRC_DIR, where licence and test files may lie
};

/// "index.json" -> its bytes, for PackageContent::info. The same input gives the same bytes.
Result<std::map<std::string, std::string>> info_files(const MetadataInput& input);

}  // namespace gpkg
