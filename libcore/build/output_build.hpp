#pragma once

// One output of one recipe, from its sources to its package. Used by the builder only.

#include "libcore/build/build_options.hpp"
#include "libcore/build/built_package.hpp"
#include "libcore/build/staging.hpp"

namespace gpkg {

struct OutputResult {
    BuiltPackage package;
    std::vector<EnvironmentUse> uses;  ///< of every environment that had a part in it
};

/// `base` is what the output inherits, built; null when it inherits nothing.
Result<OutputResult> build_output(const Recipe& recipe,
                                  const RenderedOutput& output,
                                  const StagedOutput* base,
                                  const BuildOptions& options);

/// Builds what others inherit, and keeps it in `aside`.
Result<StagedOutput> stage_output(const Recipe& recipe,
                                  const RenderedOutput& output,
                                  const StagedOutput* base,
                                  const fs::path& aside,
                                  const BuildOptions& options);

/// "numpy-1.24.2-hb0f4dca_0.conda"
std::string package_file_name(const RenderedOutput& output, const BuildOptions& options);

/// Where the sources of a build come from.
SourceFetchOptions source_options(const BuildOptions& options, const fs::path& work);

}  // namespace gpkg
