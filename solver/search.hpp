#pragma once

// Finds an answer, looking among few candidates of each name first. An answer among few is one; and
// where there is none, libsolv says what that rests on: at first more are looked at only there,
// then everywhere. When what it rests on leaves nothing more to look at, there is no answer at all.

#include "solver/engine.hpp"
#include "solver/reductions.hpp"
#include "solver/universe.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gpkg::solver {

class Search {
public:
    Search(const Universe& universe, const std::vector<std::uint32_t>& ranks);

    /// Live candidates that meet every goal and each other's specs; nothing when there are none.
    /// In ascending order.
    std::optional<std::vector<CandidateId>> find(const Live& live, const std::vector<Goal>& goals);
    /// What the last failure to find any rests on.
    const Conflict& conflict() const { return conflict_; }

private:
    class Attempt;
    void sort(std::vector<CandidateId>& ids) const;
    const std::vector<CandidateId>& best_first(SpecId spec);

    const Universe& universe_;
    const std::vector<std::uint32_t>& ranks_;
    std::vector<std::optional<std::vector<CandidateId>>> best_first_;  ///< by spec
    Conflict conflict_;
};

}  // namespace gpkg::solver
