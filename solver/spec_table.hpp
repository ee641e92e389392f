#pragma once

// How the texts of names and specs become numbers: every distinct one once, its condition folded by
// what the machine decides, and in the end with the candidates that it matches.

#include "libcore/hardware/cascade.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/spec/condition.hpp"
#include "solver/candidate.hpp"

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

class SpecTable {
public:
    /// The virtual packages must outlive it.
    explicit SpecTable(const std::vector<PackageRecord>& virtual_packages);

    const std::vector<Name>& names() const { return names_; }
    const std::vector<Spec>& specs() const { return specs_; }
    const Conditions& conditions() const { return conditions_; }
    std::optional<NameId> find_name(std::string_view text) const;

    Name& name(NameId id) { return names_[id]; }
    const Name& name_of(SpecId id) const { return names_[specs_[id].name]; }
    NameId intern_name(std::string_view text);
    /// A dependency. Fails where it cannot be read.
    Result<SpecId> intern(std::string_view text);
    /// One that no index has the text of.
    SpecId intern(MatchSpec match);
    /// A dependency of a group of extras: it applies where somebody asks for the group.
    Result<SpecId> intern_extra(std::string_view text, NameId name, std::string_view group);
    /// Of `constrains` nothing but what they match counts: a condition on them is ignored, as
    /// rattler does.
    SpecId without_condition(SpecId id);
    /// The first of which a condition was ignored.
    std::optional<SpecId> first_ignored() const { return first_ignored_; }

    /// What specs are judged by.
    const CudaLimits& limits() const { return limits_; }

    /// A spec that no record has and that is not written as one: what it matches is given.
    SpecId derive(NameId name, std::string_view text, std::vector<CandidateId> matches);

    /// Keeps a list for as long as there is the table.
    std::span<const SpecId> keep(std::vector<SpecId> list);

    /// Tells every spec what it matches, once all candidates are there.
    void link(const std::vector<Candidate>& candidates, const std::vector<Version>& versions);

private:
    SpecId add(MatchSpec match, std::string text, ConditionId when);
    Result<ConditionId> intern_condition(const Condition& condition);
    ConditionId decided_by_machine(const MatchSpec& leaf) const;

    const std::vector<PackageRecord>* machine_;
    Cascade cascade_;
    CudaLimits limits_;
    std::vector<Name> names_;
    std::vector<Spec> specs_;
    Conditions conditions_;
    std::unordered_map<std::string, NameId> name_ids_;
    std::unordered_map<std::string, SpecId> spec_ids_;
    std::deque<std::vector<SpecId>> lists_;  ///< what spans point to
    std::optional<SpecId> first_ignored_;
};

}  // namespace gpkg::solver
