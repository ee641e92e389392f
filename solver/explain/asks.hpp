#pragma once

// What some candidates of one name ask of another name, told shortly: builds of one package mostly
// say the same thing in a dozen ways.

#include "solver/universe.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg::solver {

/// The specs of one candidate on one name, sorted. All of them have to be met; conditions count as
/// true.
using Way = std::vector<SpecId>;

struct Asked {
    std::set<Way> ways;
    std::size_t members = 0;  ///< candidates that speak of the name
    bool some_need = false;
    bool some_restrict = false;   ///< a member only constrains it
    bool has_conditions = false;  ///< a member asks only where something holds
};

/// What `ids` ask of `to`.
Asked asked_of(const Universe& universe, const std::vector<CandidateId>& ids, NameId to);

/// The specs of one candidate on one name; empty if it has none.
Way way_of(const Universe& universe, CandidateId id, NameId to, bool* needs = nullptr);

/// Candidates of one name that meet every spec of the way.
std::vector<CandidateId> allowed_by(const Universe& universe, const Way& way);

/// Every distinct way, as a person would write it: "h >=1.14", "h <2 and h * b1".
std::vector<std::string> all_texts(const Universe& universe, const std::set<Way>& ways);

/// The same in few words: without specs that another covers, with adjacent ranges joined, and with
/// builds in place of many alternatives.
std::vector<std::string> short_texts(const Universe& universe,
                                     NameId to,
                                     const std::set<Way>& ways);

}  // namespace gpkg::solver
