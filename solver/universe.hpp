#pragma once

// The closed world of one solve: every candidate that the request can reach, with names, versions
// and dependency specs as small integers. Records that are not allowed are left out here: by strict
// priority, exclude-newer, the requested accelerators, and the traits of installed packages
// (keeping.hpp). Nothing is ranked or dropped for being worse.

#include "libcore/solve/solve.hpp"
#include "solver/candidate.hpp"
#include "solver/keeping.hpp"
#include "solver/spec_table.hpp"

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::solver {

class Universe {
public:
    Universe(Universe&&) = default;
    Universe& operator=(Universe&&) = default;
    Universe(const Universe&) = delete;  // candidates point into it
    Universe& operator=(const Universe&) = delete;
    ~Universe() = default;

    /// Collects everything `problem` can reach. The problem must outlive the universe.
    static Result<Universe> collect(const Problem& problem);

    /// Whether derived dependencies count (derived_dependencies.hpp). After collect() they do.
    enum class Together { Required, NotRequired };
    void require(Together together);

    const std::vector<Name>& names() const { return table_.names(); }
    const std::vector<Spec>& specs() const { return table_.specs(); }
    const std::vector<Candidate>& candidates() const { return candidates_; }
    const Conditions& conditions() const { return table_.conditions(); }
    /// Of the machine.
    const CudaLimits& limits() const { return table_.limits(); }
    const Version& version(VersionId id) const { return versions_[id]; }
    const Problem& problem() const { return *problem_; }

    /// The request's specs as interned here, in their order. One with a condition is a spec on a
    /// name that stands for it (Name::is_request).
    const std::vector<SpecId>& requested() const { return requested_; }
    /// Those with a condition themselves.
    const std::vector<SpecId>& conditional() const { return conditional_; }
    /// Its constraints, those on names that the request can reach.
    const std::vector<SpecId>& constraints() const { return constraints_; }
    /// Which of the request's constraints the one at `place` of constraints() comes from: one that
    /// is a glob restricts several names.
    std::uint32_t constraint_index(std::size_t place) const;
    /// Names to keep installed where possible.
    const std::vector<NameId>& kept() const { return kept_; }
    const std::vector<std::string>& notes() const { return notes_; }

    /// Whether any build has derived dependencies.
    bool has_derived() const { return !derived_.empty(); }

    const Name& name_of(const Spec& spec) const { return names()[spec.name]; }
    const Name& name_of(CandidateId id) const { return names()[candidates_[id].name]; }
    const Version& version_of(CandidateId id) const { return versions_[candidates_[id].version]; }
    std::span<const Candidate> candidates_of(NameId id) const {
        const auto& name = names()[id];
        return std::span(candidates_).subspan(name.begin, name.end - name.begin);
    }
    /// The specs that a condition asks about.
    std::vector<SpecId> leaves(ConditionId condition) const;
    std::optional<NameId> find_name(std::string_view text) const { return table_.find_name(text); }
    /// The request's, with what follows for what is needed.
    const Accelerators& accelerators() const { return accelerators_; }
    const Keeping& keeping() const { return keeping_; }
    std::optional<Former> former(NameId name) const { return keeping_.former(names()[name].text); }
    /// Whether what does not run on the machine counts as worse: not in conda's order.
    bool heeds_machine(NameId name) const {
        return accelerators().choice(names()[name].text) != AcceleratorChoice::Conda;
    }
    /// The accelerator whose builds are to be taken of the name, if any, rather than others.
    std::optional<Accelerator> preferred_accelerator(NameId name) const;
    /// Whether a CUDA is requested by name and no accelerator: requested packages come in builds
    /// for it, in older versions if need be.
    bool names_cuda() const;
    /// Also where a condition decides.
    bool is_requested(NameId name) const;
    /// The names that stand for toolkits, of which builds need releases: none where builds do not
    /// have to go together.
    const std::vector<NameId>& toolkits() const { return toolkits_; }
    /// Whether all of the request's specs and constraints on its name match.
    bool is_as_requested(CandidateId id) const;
    /// "numpy 1.26.4 py312h_0", for messages.
    std::string describe(CandidateId id) const;

private:
    friend class Collecting;
    explicit Universe(const Problem& problem);

    const Problem* problem_;
    Accelerators accelerators_;
    SpecTable table_;
    std::vector<Candidate> candidates_;
    std::vector<Version> versions_;
    std::deque<NameRecords> homes_;          ///< what the candidates' rows are read by
    std::deque<PackageRecord> unpublished_;  ///< of names that stand for no package
    std::vector<SpecId> requested_;
    std::vector<SpecId> conditional_;
    std::vector<SpecId> constraints_;
    std::vector<const Constraint*> constraint_of_;  ///< of each of constraints_
    std::vector<NameId> kept_;
    std::vector<std::string> notes_;
    Together together_ = Together::NotRequired;
    std::vector<DerivedLists> derived_;  ///< that count where together_ is the other one
    std::vector<NameId> toolkits_;
    std::optional<Accelerator> found_accelerator_;  ///< what Auto prefers
    Keeping keeping_;
};

}  // namespace gpkg::solver
