#pragma once

// The environments that something is built in, and how the builder comes by them.

#include "libcore/recipe/rendered.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// A package in a build or host environment.
struct EnvironmentPackage {
    std::string name;
    std::string version;
    std::string build;
    RunExports run_exports{};
    std::string subdir{};
    std::string sha256{};  ///< of its file; empty when the channel does not say it
};

/// What satisfies some specs, not made yet.
struct SolvedEnvironment {
    /// A line for each package that no other package has: its file and its sha256. Sorted.
    std::vector<std::string> packages;
    /// Downloads and links them at an empty prefix, for scripts that see it as `seen`.
    std::function<Result<std::vector<EnvironmentPackage>>(const fs::path& prefix,
                                                          const fs::path& seen)>
        make;
};

/// Solving needs what the builder does not know: channels, profiles, a solver. Packages built
/// earlier in the same run lie in BuildOptions::staging, which has no index, and stand in place of
/// those of the channel.
/// build_all calls it, and what it returns, from several threads, one at a time.
using SolveEnvironment =
    std::function<Result<SolvedEnvironment>(const std::vector<std::string>& specs)>;

/// What was asked for, and which packages it gave: the same again means that nothing changed.
struct EnvironmentUse {
    std::vector<std::string> specs;
    std::vector<std::string> packages;  ///< SolvedEnvironment::packages
};

/// The environments of one output, made.
struct BuildEnvironments {
    RecipeRequirements requirements;  ///< that asked for them
    std::vector<EnvironmentPackage> build;
    std::vector<EnvironmentPackage> host;
    std::vector<EnvironmentUse> uses;
};

struct BuildPlace;

/// Makes them: the build environment at `place.build_prefix`, then the host environment, with the
/// strong run_exports of the first, at `place.prefix`. One that nothing is asked of is left out.
Result<BuildEnvironments> make_environments(const RenderedOutput& output,
                                            const SolveEnvironment& solve,
                                            const BuildPlace& place);

/// Fails, with the place in the recipe, if no channel has a run dependency that is not an output of
/// the same build either. What else may be wrong with the dependencies is for the tests.
Result<void> check_run_names(const RenderedOutput& output,
                             const std::set<std::string>& outputs,
                             const SolveEnvironment& solve);

}  // namespace gpkg
