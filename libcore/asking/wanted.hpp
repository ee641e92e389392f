#pragma once

// What is wished for now, as far as a solver is asked for it.

#include "libcore/asking/reach.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/spec/match_spec.hpp"

#include <string>
#include <vector>

namespace gpkg {

struct Wanted {
    std::vector<MatchSpec> specs;     ///< what the user named, in that order
    std::vector<std::string> update;  ///< names that may move
    bool update_all = false;
    AcceleratorWishes accelerators{};
    ReachOptions reach{};
    /// What was asked for earlier counts no more: packages, variables and accelerators.
    bool prune = false;
    /// What nobody asks for any more goes, and another machine than was named is no help.
    bool is_for_lock = false;
};

}  // namespace gpkg
