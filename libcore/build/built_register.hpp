#pragma once

// What was built from what, kept in <work>/built, so that the same is not built twice. Used by the
// builder only.

#include "libcore/build/builder.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace gpkg {

/// "recipe", "sources" ... -> a digest that changes whenever that part of what a package is made of
/// does. The recipe counts as it is rendered: a comment, or another output, changes nothing.
using BuildInputs = std::map<std::string, std::string>;

/// May be used by several threads.
class BuiltRegister {
public:
    explicit BuiltRegister(const BuildOptions& options) : options_(options) {}

    Result<BuildInputs> inputs(const Recipe& recipe, const RenderedOutput& output);
    /// Why the package has to be built; no value when the one in the channel was made of these
    /// inputs, in environments that the solver would give again.
    Result<std::optional<std::string>> why_build(const RenderedOutput& output,
                                                 const BuildInputs& inputs) const;
    /// The one in the channel, as it was built before.
    BuiltPackage package(const RenderedOutput& output) const;
    Result<void> remember(const RenderedOutput& output,
                          const BuildInputs& inputs,
                          const std::vector<EnvironmentUse>& uses) const;

private:
    Result<std::string> sources_digest(const RenderedOutput& output);
    Result<std::string> digest_of(const RecipeSource& source);
    fs::path note_of(const RenderedOutput& output) const;
    fs::path package_of(const RenderedOutput& output) const;
    const BuildOptions& options_;
    std::mutex mutex_;
    /// Outputs and variants share sources: a tree is read, and a repository asked, once.
    std::vector<std::pair<RecipeSource, std::string>> sources_;
};

/// Keeps what the channel has under the name of a package that is about to be written, for
/// withhold().
Result<void> keep_published(const fs::path& package, const fs::path& work);

/// Whether remember_tested() saw the package as it is now.
bool is_tested(const BuiltPackage& package, const fs::path& work);

}  // namespace gpkg
