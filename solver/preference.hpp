#pragma once

// Which of two candidates of one name is better: the one place where the order is decided. No CEP
// says it; the keys are those of rattler, made total. The order is a function of the records, of
// the request and of the channels' order, so that of the records in an index plays no part.
//
//   1  what is installed and not to be updated, then other builds of its version; these alone where
//      the build is to be for another accelerator. Of the releases of a toolkit, which stand as
//      candidates beside those of packages: those of what is installed, then the one that suits the
//      driver better (toolkit_fit)
//   2  what runs on the machine's driver and on all of its GPUs (running.hpp)
//   3  no track_features
//   4  the higher channel, under flexible priority
//   5  of what is requested with a CUDA (Universe::names_cuda), a build for it
//   6  the higher version
//   7  where builds are for several accelerators, the preferred one, and then none; its builds have
//      no track_features for 3
// So far of versions, accelerators and what goes with them; from here on of builds alone:
//   8  the toolkit that suits the driver better (toolkit_fit)
//   9  what was made for more of what the machine is (libcore/hardware/cascade.hpp)
//  10  the higher build number
//  11  dependencies that can be newer: over the names that all equals depend on, alphabetically,
//      the highest version that the specs on each can get
//  12  the newer timestamp, the higher channel, arch before noarch, .conda before .tar.bz2
//  13  the build string and the checksum, so that nothing is ever equal

#include "solver/universe.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// The places of candidates among those of their name, 0 being the best: by all keys, and by the
/// first of them alone.
struct Ranking {
    std::vector<std::uint32_t> standings;     ///< by keys 1 to 4
    std::vector<std::uint32_t> named_cuda;    ///< by keys 1 to 5
    std::vector<std::uint32_t> versions;      ///< by keys 1 to 6
    std::vector<std::uint32_t> accelerators;  ///< by keys 1 to 7
    std::vector<std::uint32_t> ranks;         ///< by all; no two are equal
};

Ranking rank_candidates(const Universe& universe);

/// Ranks in the order of the channels, which is nearly that of preference: where any order will do.
std::vector<std::uint32_t> ranks_by_channel(const Universe& universe);

/// What puts one candidate of a name before another: "is of a newer version".
std::string advantage(const Universe& universe, CandidateId better, CandidateId other);

}  // namespace gpkg::solver
