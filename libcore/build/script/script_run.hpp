#pragma once

// Running the script of an output. Used by the builder only.

#include "libcore/build/build_options.hpp"
#include "libcore/build/build_place.hpp"

namespace gpkg {

struct ScriptRun {
    const Recipe& recipe;
    const RenderedOutput& output;
    const BuildPlace& place;
    const std::vector<EnvironmentPackage>& host;
    std::int64_t start_ms = 0;
};

/// Runs it to its end, its words in the log. Nothing to run is no error.
Result<void> run_script(const ScriptRun& run, const BuildOptions& options);

}  // namespace gpkg
