#pragma once

// What is wished for now, as far as a solver is asked for it. The words of this folder, in order:
//
//   Wanted        what the user asks for now                   this header
//   Present       what is there, and what was asked for before present.hpp
//   Request       the two together, as a solver is asked       libcore/solve, by request.hpp
//   Problem       with the channels' indexes and the machine   libcore/solve
//   PosedRequest  all of these, to be changed and asked again  posed_request.hpp
//   Outcome       a Solution, or an Explanation                libcore/solve, by answering.hpp

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
    /// The answer goes into a lock: what nobody asks for any more leaves that, and where a machine
    /// was named another one is no help.
    bool is_for_lock = false;
};

}  // namespace gpkg
