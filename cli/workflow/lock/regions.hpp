#pragma once

// What a request brings on every machine there could be: machines with one answer are one region.

#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/lock/locking.hpp"
#include "libcore/solve/hardware_space.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gpkg::cli {

struct Region {
    std::string name;                 ///< "cuda12-glibc2.28"; no other has it
    std::vector<std::size_t> points;  ///< of the space
    std::vector<std::size_t> solved;  ///< those of them whose answer may be others' as well
    Solution solution;
    std::vector<std::string> needs;  ///< the least that its packages ask of a machine
};

struct Regions {
    HardwareSpace space;
    std::vector<Region> regions;             ///< with an answer, those with more needs first
    std::vector<std::size_t> unsatisfiable;  ///< points without an answer
    std::size_t solves = 0;
};

/// Of all machines of the question's platform.
Result<Regions> decision_regions(Context& context, Question question);

/// A class for each region, named for it and in their order; versions are as each has them.
Result<LockFile> lock_of_regions(const Regions& regions,
                                 const Question& question,
                                 LockRequest request);

/// Points whose machines would take another region's class of the lock than their own.
std::vector<std::size_t> points_that_take_another(const Regions& regions, const LockFile& lock);

}  // namespace gpkg::cli
