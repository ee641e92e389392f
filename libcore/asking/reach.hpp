#pragma once

// Which packages a decision may touch, and how that changes a request or its answer.

#include "libcore/env/prefix_record.hpp"
#include "libcore/solve/solve.hpp"
#include "libcore/spec/match_spec.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// As the user's flags say.
struct ReachOptions {
    bool freeze_installed = false;  ///< what is installed and not named stays as it is
    bool update_deps = false;       ///< what the named packages need may move
    bool only_deps = false;         ///< what the named packages need, not themselves
    bool no_deps = false;           ///< the named packages alone
    bool no_pin = false;            ///< conda-meta/pinned and pinned_packages do not count
};

/// What is installed and not named has to be there afterwards, and as it is. `flag` says so.
void freeze(Request& request,
            const std::vector<PrefixRecord>& installed,
            const std::set<std::string>& named,
            std::string_view flag);

/// The names of what these specs need in a solution, directly or not, without their own.
std::vector<std::string> needed_by(const std::vector<MatchSpec>& specs, const Solution& solution);

/// Takes out of `records` what `requested` names and is not installed, as far as nothing that stays
/// needs it. Requested is then what it needs, so that later changes keep to that; but `wishes`
/// already has its say on some names.
void leave_named_out(std::vector<PackageRecord>& records,
                     std::vector<MatchSpec>& requested,
                     const std::vector<PrefixRecord>& installed,
                     const std::vector<MatchSpec>& wishes);

}  // namespace gpkg
