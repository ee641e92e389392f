#pragma once

// Environments made for a purpose and thrown away: those a build needs, and those a built package
// is tested in. No prompt, no table, no registration.

#include "cli/context.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// What would satisfy some specs, from the channels that it was solved with.
struct SolvedTrial {
    std::vector<PackageRecord> records;  ///< dependencies first
    std::vector<Channel> channels;       ///< with the credentials that downloads need
};
Result<SolvedTrial> solve_trial(Context& context,
                                const Sources& sources,
                                const std::vector<std::string>& specs);

struct TrialEnvironment {
    std::vector<PackageRecord> records;
    std::vector<fs::path> unpacked;  ///< of each record
};

/// Downloads the packages and links them at `prefix`, which must be absent or empty, for use under
/// the path `seen`.
Result<TrialEnvironment> make_trial(Context& context,
                                    SolvedTrial solved,
                                    const fs::path& prefix,
                                    const fs::path& seen);

}  // namespace gpkg::cli
