#pragma once

// The builder: recipes in, packages in a channel folder out. Sources, environments, script, what
// the script left, package: one after the other for one output, several outputs at a time.
//
// A build sees a clean environment and a prefix whose path is kPlaceholderLength long; the packages
// name canonical_placeholder() instead, so that the same inputs make the same bytes anywhere.

#include "libcore/build/environments.hpp"
#include "libcore/build/sources/source.hpp"
#include "libcore/recipe/package_test.hpp"
#include "libcore/recipe/recipe.hpp"
#include "libcore/recipe/render.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

struct BuildEvent {
    enum class Kind { Started, Built, Reused, Failed };
    Kind kind = Kind::Started;
    std::string what;      ///< "numpy-1.24.2-hb0f4dca_0", or the recipe's path when it failed early
    std::size_t done = 0;  ///< outputs finished, of `total`
    std::size_t total = 0;
};

enum class PackageFormat { Conda, TarBz2 };

struct BuildOptions {
    fs::path channel;  ///< absolute; packages go to <channel>/<subdir>/
    fs::path work;     ///< absolute: builds, logs, downloads, what was built from which inputs
    RenderOptions render;
    /// Unix seconds (SOURCE_DATE_EPOCH): the time in the packages. Absent: when the build starts.
    std::optional<std::int64_t> timestamp;
    PackageFormat format = PackageFormat::Conda;
    int zstd_level = 6;      ///< of .conda
    int jobs = 1;            ///< outputs at a time; what is left over goes to threads within one
    int cpu_count = 0;       ///< CPU_COUNT for scripts; 0: as many as the machine has
    bool rebuild = false;    ///< also what is there and was built from the same inputs
    bool keep_work = false;  ///< leave the folders of successful builds, as failed ones are left
    bool sandbox = false;    ///< scripts see only what is declared; sandbox.hpp says if it can be
    bool network = false;    ///< scripts in the sandbox have one
    FetchFile fetch;
    bool offline = false;   ///< sources come from the cache and from this machine
    fs::path source_cache;  ///< empty: <work>/sources
    /// URLs of sources that begin with the first are asked for under the second first.
    std::vector<std::pair<std::string, std::string>> mirrors;
    /// Null: recipes that need build or host packages are refused.
    SolveEnvironment solve_environment;
    std::function<bool()> cancelled;
    std::function<void(const BuildEvent&)> report;  ///< called from one thread at a time
};

struct BuiltPackage {
    std::string distribution;
    fs::path file;
    fs::path log;         ///< what the script said; of an earlier run when reused
    bool reused = false;  ///< it was there, built from the same inputs
    /// Distributions of the environments that it was built in; none where it is reused.
    std::vector<std::string> built_with;
    std::vector<PackageTest> tests;
    bool tested = false;  ///< as it is now it passed them in an earlier run
    std::vector<std::string> warnings;
};

/// Notes that the package, as it is now, passed its tests.
Result<void> remember_tested(const BuiltPackage& package, const fs::path& work);

struct Withheld {
    fs::path place;                 ///< where the package lies now, below <work>/failed/
    bool restored = false;          ///< the channel has again what it had under that name before
    std::string to_string() const;  ///< for a hint
};

/// Takes a package that failed its tests out of the channel. The next run builds it again.
Result<Withheld> withhold(const BuiltPackage& package, const fs::path& work);

/// The package stays in the channel: withhold() no longer brings back what was there before it.
Result<void> publish(const BuiltPackage& package, const fs::path& work);

struct FailedBuild {
    fs::path recipe;
    Error error;
};

struct BuildSummary {
    std::vector<BuiltPackage> packages;  ///< in the order of `recipes`
    std::vector<FailedBuild> failures;
};

/// Builds every output that is not skipped, each after those that make its build and host packages.
/// Outputs that inherit the same are built in the same place, one after the other. One failure does
/// not stop those that do not need it. Fails only where nothing could be started, and when
/// cancelled.
Result<BuildSummary> build_all(const std::vector<fs::path>& recipes, const BuildOptions& options);

struct PlannedBuild {
    fs::path recipe;
    std::string distribution;
    std::string reason;  ///< why it is to be built; empty when it is as it was
};

/// What build_all() would build, and why, without building it. In the order of the recipes.
Result<std::vector<PlannedBuild>> plan_builds(const std::vector<fs::path>& recipes,
                                              const BuildOptions& options);

/// The recipe files in and below `folder`; folders below a recipe are its own affair.
Result<std::vector<fs::path>> find_recipes(const fs::path& folder);

}  // namespace gpkg
