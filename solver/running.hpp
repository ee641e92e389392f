#pragma once

// What does not run on the machine's driver and GPUs, though all that it asks of the machine is
// there: what says so itself (CudaLimits), and what needs something of which nothing else is to be
// had.

#include "solver/universe.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpkg::solver {

/// Marks what needs only what is marked. Once every spec knows what it matches.
void mark_dependents(const SpecTable& table, std::vector<Candidate>& candidates);

/// Why one that is marked does not run: "needs libcudnn >=9.11, which has no code for ...". Where
/// one of several is meant, it is of those that were chosen.
std::string obstacle_of(const Universe& universe,
                        CandidateId id,
                        const std::vector<CandidateId>& chosen = {});

/// What of an answer does not run, and why.
using NotRunning = std::map<CandidateId, std::string>;

/// What is marked, and what needs of the answer what does not run, though it might have got
/// another.
NotRunning not_running_in(const Universe& universe, const std::vector<CandidateId>& chosen);

}  // namespace gpkg::solver
