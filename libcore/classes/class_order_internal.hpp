#pragma once

// Which of two classes a machine takes before the other.

#include "libcore/classes/class_fit.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg::lock {

/// What puts a class before another, what counts most first.
enum class Advantage {
    Fits,
    Runs,        ///< its builds run on what is there
    EarlierGpu,  ///< it has builds for a GPU that was asked for before the other's
    Builds,      ///< it has builds for a GPU that is meant, and the other has not
    MadeFor,     ///< it was made for more of the machine
    MoreBuilds,  ///< more of its packages are builds for a GPU that is meant
    NoBuilds,    ///< the other has builds for a GPU that is not meant
    CloserGpu,   ///< it was made for more of the GPU
    CloserCpu,   ///< of the CPU
    AsksMore,    ///< of what is there
};

struct Comparison {
    int order = 0;                              ///< above 0: the first is better
    Advantage advantage = Advantage::AsksMore;  ///< what then holds of the first
};

Comparison compare(const ClassFit& a, const ClassFit& b);

/// Sets ClassFit::made_for of all; their places are those of the classes in `made_for`. The
/// versions of the virtual packages in `unknown` do not count.
void rank_by_machines(std::vector<ClassFit>& fits,
                      const MachinesOfClasses& made_for,
                      const MachineParts& machine,
                      const std::set<std::string>& unknown = {});

}  // namespace gpkg::lock
