#pragma once

// What follows from taking any candidate of a set: the names that each of them asks for, and which
// candidates of those remain.

#include "solver/reductions.hpp"
#include "solver/universe.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpkg::solver {

/// What a set of candidates of one name has to do with another name.
struct Demand {
    std::size_t members = 0;             ///< how many of the set speak of the name
    std::set<std::vector<SpecId>> ways;  ///< the distinct lists of specs on it, each sorted
    bool some_need = false;              ///< a member depends on it
    bool some_restrict = false;          ///< a member only constrains it
};

/// One step of "whoever takes this must also take that".
struct Implication {
    std::vector<CandidateId> allowed;  ///< candidates of the name that are still possible
    bool is_needed = true;             ///< false: the name may be absent as well
    std::vector<std::string> path;     ///< "pytorch 2.4.0 cuda_0 needs mkl >=2023", outermost first
};

/// What everybody who meets `root` must take or leave, by name. Only the living count.
std::map<NameId, Implication> implications(const Universe& universe,
                                           SpecId root,
                                           bool is_needed,
                                           const Live& live);

/// "3 builds of lg 1 need core 1.* or core 2.*": one of `specs`, which are on one name, is of
/// `depends` or `constrains` of each of `ids`.
std::string demand_line(const Universe& universe,
                        const std::vector<CandidateId>& ids,
                        const std::set<SpecId>& specs);

}  // namespace gpkg::solver
