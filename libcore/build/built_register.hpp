#pragma once

// What was built from what, kept in <work>/built, so that the same is not built twice. Used by the
// builder only.

#include "libcore/build/builder.hpp"

#include <map>
#include <optional>

namespace gpkg {

/// "recipe", "sources" ... -> a digest that changes whenever that part of what a package is made of
/// does. The recipe counts as it is rendered: a comment, or another output, changes nothing.
using BuildInputs = std::map<std::string, std::string>;

Result<BuildInputs> build_inputs(const Recipe& recipe,
                                 const RenderedOutput& output,
                                 const BuildOptions& options);

class BuiltRegister {
public:
    explicit BuiltRegister(const BuildOptions& options) : options_(options) {}

    /// Why the package has to be built; no value when the one in the channel was made of these
    /// inputs, in environments that the solver would give again.
    Result<std::optional<std::string>> why_build(const RenderedOutput& output,
                                                 const BuildInputs& inputs) const;
    Result<void> remember(const RenderedOutput& output,
                          const BuildInputs& inputs,
                          const std::vector<EnvironmentUse>& uses) const;

private:
    fs::path note_of(const RenderedOutput& output) const;
    fs::path package_of(const RenderedOutput& output) const;
    const BuildOptions& options_;
};

/// Whether remember_tested() saw the package as it is now.
bool is_tested(const BuiltPackage& package, const fs::path& work);

}  // namespace gpkg
