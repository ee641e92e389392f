#pragma once

// The known part of a solution while it is put together: the candidates settled so far, the extras
// that they and the request ask for, and which conditional dependencies of theirs apply by now.

#include "solver/universe.hpp"

#include <vector>

namespace gpkg::solver {

class Facts {
public:
    /// Nothing is settled; the request's own extras are asked for.
    explicit Facts(const Universe& universe);

    void settle(CandidateId id);
    bool holds(ConditionId condition) const;
    /// The conditional dependencies of settled candidates that apply and were not returned before:
    /// in the order of settling, then of the candidate's list.
    std::vector<SpecId> newly_applying();

private:
    void ask_extras(SpecId spec);

    const Universe& universe_;
    std::vector<CandidateId> settled_;
    std::vector<CandidateId> by_name_;
    std::vector<bool> is_asked_;              ///< by condition: of extras, whether it is asked for
    std::vector<std::vector<bool>> applied_;  ///< by place in settled_ and in its list
};

}  // namespace gpkg::solver
