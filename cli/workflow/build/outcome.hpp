#pragma once

// What a run of gpkg build made, which of it is good, and how that gets into the channel.

#include "cli/workflow/build/package_tests.hpp"
#include "cli/workflow/build/sources.hpp"
#include "libcore/build/builder.hpp"
#include "libcore/build/publishing.hpp"
#include "libcore/build/verify_builds.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg::cli {

struct BuildOutcome {
    fs::path channel;
    BuildSummary built;
    std::vector<FailedPackage> failed_tests;  ///< and what was built with such as are not published
    std::vector<FailedPackage> too_heavy;
    std::vector<BuildDifference> differences;  ///< where it was built twice
    bool is_verified = false;                  ///< built twice, without differences
    std::size_t identical = 0;                 ///< built packages that equal the published ones
    bool runs_tests = true;                    ///< not with --no-test

    bool is_success() const;
    /// Packages that were made and are not good, by distribution.
    std::set<std::string> withheld() const;
    /// The others.
    std::vector<BuiltPackage> good() const;
};

/// What a package has to pass before it is published.
struct Gates {
    bool tests = true;
    std::optional<std::uint64_t> closure{};  ///< bytes to download that it may bring at most
};

/// Tells what is good of what was built.
Result<void> judge(Context& context,
                   const Gates& gates,
                   BuildSources& sources,
                   const Publisher& publisher,
                   BuildOutcome& outcome);

/// Moves what is good into the channel, and then writes its indexes.
Result<void> publish(Context& context,
                     const Publisher& publisher,
                     const IndexerOptions& indexing,
                     BuildOutcome& outcome);

}  // namespace gpkg::cli
