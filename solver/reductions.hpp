#pragma once

// Makes the problem smaller without changing its best solution: removes candidates that no solution
// can have (arc consistency) and candidates that a better twin always replaces (dominance).

#include "solver/universe.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gpkg::solver {

/// Which candidates are still in play.
class Live {
public:
    explicit Live(const Universe& universe, bool all = true)
        : alive_(universe.candidates().size(), all) {}
    bool operator[](CandidateId id) const { return alive_[id]; }
    void remove(CandidateId id) { alive_[id] = false; }
    void add(CandidateId id) { alive_[id] = true; }

private:
    std::vector<bool> alive_;
};

/// The candidates that a solution can still have, as its packages become known one by one. Each
/// step also removes candidates with a dependency that no live candidate meets, and those that
/// constrain a package which the solution needs to what no live candidate is.
class Narrowing {
public:
    /// Without candidates that the machine, or their own specs, rule out.
    explicit Narrowing(const Universe& universe);

    const Live& live() const { return live_; }
    void exclude(CandidateId id);
    /// The solution has a package that matches `spec`.
    void require(SpecId spec);
    /// If the solution has the name that `spec` is about, it matches.
    void restrict_to(SpecId spec);
    /// The candidate is part of the solution: removes the others of its name, and all that exclude
    /// it or that it excludes.
    void settle(CandidateId id);

private:
    struct Relations;
    void need(NameId name);
    void kill(CandidateId id);
    void kill_constrainers(SpecId spec);
    void spread();

    const Universe* universe_;
    std::shared_ptr<const Relations> relations_;  ///< which copies share
    Live live_;
    std::vector<bool> is_needed_;              ///< by name
    std::vector<std::uint32_t> matches_left_;  ///< by spec
    std::vector<CandidateId> dead_;            ///< whose death is not yet spread
};

/// Live candidates that have a live, better-ranked twin, of the same name, with the same
/// dependencies, conditions and extras included, and constrains, and matched by the same specs of
/// records and of `request`. With `counts`, only such specs of a name's candidates.
std::vector<CandidateId> worse_twins(const Universe& universe,
                                     const std::vector<std::uint32_t>& ranks,
                                     const std::vector<SpecId>& request,
                                     const Live& live,
                                     const std::function<bool(NameId, SpecId)>& counts = {});

/// Without what these specs and constraints of the request rule out.
Narrowing restricted(const Universe& universe,
                     const std::vector<SpecId>& requested,
                     const std::vector<SpecId>& constraints);

/// Whether each of the specs has a live candidate.
bool has_candidates(const Universe& universe, const std::vector<SpecId>& specs, const Live& live);

/// The candidates that the best solution of these specs and constraints of the request can have:
/// without the worse of twins. Nothing where a spec has none with live dependencies: quick to know,
/// and mostly the reason why there is no solution.
std::optional<Narrowing> reduce(const Universe& universe,
                                const std::vector<SpecId>& requested,
                                const std::vector<SpecId>& constraints,
                                const std::vector<std::uint32_t>& ranks);

}  // namespace gpkg::solver
