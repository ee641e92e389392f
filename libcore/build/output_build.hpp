#pragma once

// One output of one recipe, from its sources to its package. Used by the builder only.

#include "libcore/build/builder.hpp"

namespace gpkg {

/// Changes whenever a package built of `output` could: gpkg's version, options, recipe, sources,
/// scripts, patches.
Result<std::string> input_digest(const Recipe& recipe,
                                 const RenderedOutput& output,
                                 const BuildOptions& options);

/// What was built from which inputs, in <work>/built.
class BuiltRegister {
public:
    explicit BuiltRegister(const BuildOptions& options) : options_(options) {}

    /// The package file, when it is as it was when it was made from these inputs.
    bool holds(const RenderedOutput& output, const std::string& digest) const;
    Result<void> remember(const RenderedOutput& output, const std::string& digest) const;

private:
    fs::path note_of(const RenderedOutput& output) const;
    fs::path package_of(const RenderedOutput& output) const;
    const BuildOptions& options_;
};

/// Whether remember_tested() saw the package as it is now.
bool is_tested(const BuiltPackage& package, const fs::path& work);

Result<BuiltPackage> build_output(const Recipe& recipe,
                                  const RenderedOutput& output,
                                  const BuildOptions& options);

}  // namespace gpkg
