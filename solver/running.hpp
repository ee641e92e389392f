#pragma once

// Builds that do not run on the machine's driver and GPUs, although the machine meets their
// dependencies: by themselves (CudaLimits), or by a dependency that only such builds meet.

#include "solver/universe.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpkg::solver {

/// Sets Candidate::will_not_run where only such candidates meet a dependency. SpecTable::link comes
/// before.
void mark_dependents(const SpecTable& table, std::vector<Candidate>& candidates);

/// Why a candidate does not run: "needs libcudnn >=9.11, which has no code for ...". Of several
/// that meet a dependency, the chosen one is named.
std::string obstacle_of(const Universe& universe,
                        CandidateId id,
                        const std::vector<CandidateId>& chosen = {});

/// The packages of a solution that do not run, and why.
using NotRunning = std::map<CandidateId, std::string>;

/// Also packages that need one of them in this solution, although another would meet the
/// dependency.
NotRunning not_running_in(const Universe& universe, const std::vector<CandidateId>& chosen);

}  // namespace gpkg::solver
