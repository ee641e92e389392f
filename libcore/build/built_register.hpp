#pragma once

// What was built from what, kept in <work>/built, so that the same is not built twice. Used by the
// builder only.

#include "libcore/build/build_options.hpp"
#include "libcore/build/publishing.hpp"
#include "libcore/recipe/recipe.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace gpkg {

/// May be used by several threads.
class BuiltRegister {
public:
    explicit BuiltRegister(const BuildOptions& options)
        : options_(options), publisher_(options.channel, options.work) {}

    Result<BuildInputs> inputs(const Recipe& recipe, const RenderedOutput& output);
    /// Why the package has to be built; no value when the one that is there was made of these
    /// inputs, in environments that the solver would give again.
    Result<std::optional<std::string>> why_build(const RenderedOutput& output,
                                                 const BuildInputs& inputs) const;
    /// The one that is there, as it was built before.
    BuiltPackage package(const RenderedOutput& output) const;
    /// Before it is built: what an earlier run left unpublished goes.
    Result<void> forget(const RenderedOutput& output) const;
    Result<void> remember(const BuiltPackage& package,
                          const BuildInputs& inputs,
                          const std::vector<EnvironmentUse>& uses) const;

private:
    Result<std::string> sources_digest(const RenderedOutput& output);
    Result<std::string> digest_of(const RecipeSource& source);
    fs::path unpublished(const RenderedOutput& output) const;
    fs::path published(const RenderedOutput& output) const;
    /// What is not published was built later.
    fs::path package_of(const RenderedOutput& output) const;

    const BuildOptions& options_;
    Publisher publisher_;
    std::mutex mutex_;
    /// Outputs and variants share sources: a tree is read, and a repository asked, once.
    std::vector<std::pair<RecipeSource, std::string>> sources_;
};

/// Distributions of the packages in some environments, each once.
std::vector<std::string> distributions_in(const std::vector<EnvironmentUse>& uses);
/// The same of those that a package was built in, by the note on it.
std::vector<std::string> noted_distributions(const fs::path& package, const fs::path& work);

}  // namespace gpkg
