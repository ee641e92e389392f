#pragma once

// What a request brings on every machine there could be: machines with one answer are one region.

#include "libcore/classes/locked_classes.hpp"
#include "libcore/solve/hardware_space.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gpkg {

struct Region {
    std::string name;                 ///< "cuda12-glibc2.28"; no other has it
    std::vector<std::size_t> points;  ///< of the space
    std::vector<std::size_t> solved;  ///< those of them whose answer may be others' as well
    Solution solution;
    MachineSpecs says;               ///< what its records say of machines
    std::vector<std::string> needs;  ///< the least that its packages ask of a machine
};

struct Regions {
    HardwareSpace space;
    /// With an answer; those come first for whose machines more specs hold.
    std::vector<Region> regions;
    std::vector<std::size_t> unsatisfiable;  ///< points without an answer
    std::size_t solves = 0;
};

/// How many kinds of machines are decided, and of how many.
using RegionsProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Of all machines that have at least the virtual packages of `least`, in whatever version of them.
Result<Regions> decision_regions(Problem problem,
                                 const std::vector<PackageRecord>& least,
                                 const Solve& solve,
                                 const RegionsProgress& progress);

/// A class for each region, named for it and in their order; versions are as each has them. `like`
/// is what they were decided for.
Result<LockFile> lock_of_regions(const Regions& regions, const ClassProblem& like);

/// Points whose machines would take another region's class of the lock than their own.
std::vector<std::size_t> points_that_take_another(const Regions& regions, const LockFile& lock);

}  // namespace gpkg
