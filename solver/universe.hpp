#pragma once

// The closed world of one solve: every candidate that the request can reach, with names, versions
// and dependency specs as small integers. Hard filters (subdir, strict
// priority, exclude-newer, readable specs) are applied here; nothing is ranked or dropped for being
// worse.

#include "libcore/solve/solve.hpp"
#include "libcore/spec/condition.hpp"
#include "solver/candidate.hpp"
#include "solver/keeping.hpp"

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
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

    const std::vector<Name>& names() const { return names_; }
    const std::vector<Spec>& specs() const { return specs_; }
    const std::vector<Candidate>& candidates() const { return candidates_; }
    const Conditions& conditions() const { return conditions_; }
    const Version& version(VersionId id) const { return versions_[id]; }
    const Problem& problem() const { return *problem_; }

    /// The request's specs as interned here, in their order.
    const std::vector<SpecId>& requested() const { return requested_; }
    /// Its constraints, those on names that the request can reach.
    const std::vector<SpecId>& constraints() const { return constraints_; }
    /// Which of the request's constraints the one at `place` of constraints() comes from: one that
    /// is a glob restricts several names.
    std::uint32_t constraint_index(std::size_t place) const;
    /// Names to keep installed where possible.
    const std::vector<NameId>& kept() const { return kept_; }
    const std::vector<std::string>& notes() const { return notes_; }

    const Name& name_of(const Spec& spec) const { return names_[spec.name]; }
    /// The specs that are about the name.
    const std::vector<SpecId>& specs_on(NameId name) const { return names_[name].specs; }
    /// The specs that a condition asks about.
    std::vector<SpecId> leaves(ConditionId condition) const;
    std::optional<NameId> find_name(std::string_view text) const;
    /// What is asked for of accelerators, here also for the parts of what it is asked for.
    const Accelerators& accelerators() const { return keeping_.accelerators(); }
    std::optional<Former> former(NameId name) const { return keeping_.former(names_[name].text); }
    /// The accelerator whose builds are to be taken of the name, if any, rather than others.
    std::optional<Accelerator> preferred_accelerator(NameId name) const;
    bool is_requested(NameId name) const;
    /// Whether all of the request's specs and constraints on its name match.
    bool is_as_requested(CandidateId id) const;
    /// "numpy 1.26.4 py312h_0", for messages.
    std::string describe(CandidateId id) const;

private:
    explicit Universe(const Problem& problem);
    /// A list of specs of an index, in our numbers; empty when it cannot be used.
    struct List {
        std::span<const SpecId> specs;
        std::span<const SpecId> conditional;
        bool is_readable = true;
        /// What the dependencies say of the build.
        HintedAccelerator accelerator{};
        Closeness closeness{};
        bool will_not_run = false;
    };
    /// Specs of one record, being collected.
    struct Asks {
        std::vector<SpecId> specs, conditional;
    };

    NameId intern_name(std::string_view text);
    Result<SpecId> intern_spec(std::string_view text);
    SpecId intern_spec(MatchSpec match, std::string text, ConditionId when);
    /// One that no index has the text of.
    SpecId intern_spec(MatchSpec match);
    Result<SpecId> intern_extra(std::string_view text, NameId name, std::string_view group);
    SpecId without_condition(SpecId id);
    Result<ConditionId> intern_condition(const Condition& condition);
    ConditionId decided_by_machine(const MatchSpec& leaf) const;
    VersionId add_version(Result<Version> version);
    Result<void> take_request();
    void reach(NameId name);
    void reach_from(const Candidate& candidate);
    Result<void> collect_candidates(NameId name);
    Result<bool> add_row(NameId name, const ChannelRecord& record, std::uint32_t channel);
    bool is_no_code_for_machine(const Candidate& candidate) const;
    std::uint32_t channel_of(NameId name, const PackageRecord& record) const;
    void add_given(NameId name, const PackageRecord& record, bool installed);
    void take_constraints(NameId name);
    Result<void> collect_rows(NameId name);
    void collect_installed(NameId name);
    std::optional<Accelerator> accelerator_of_row(const Candidate& candidate,
                                                  const List& depends) const;
    /// Gives `why_not` each candidate of the name, and leaves it out where that has a reason.
    template <typename WhyNot>
    void leave_out(NameId name, const WhyNot& why_not);
    void leave_out_changed_builds(NameId name);
    void leave_out_accelerators(NameId name);
    using FirstNamed = std::unordered_map<SpecId, std::uint32_t>;
    bool is_named(NameId name,
                  const ChannelIndex& index,
                  std::uint32_t channel,
                  FirstNamed& first) const;
    Result<SpecId> take_spec(const ChannelIndex& index, ChannelIndex::SpecNumber number);
    using KnownLists = std::unordered_map<ChannelIndex::List, List>;
    /// What `read` makes of a list, kept in `known`; it gives false where it cannot be read.
    template <typename Read>
    Result<List> take_once(KnownLists& known, ChannelIndex::List list, const Read& read);
    Result<List> take_depends(const ChannelRecord& record, ChannelIndex::List list);
    Result<List> take_constrains(const ChannelRecord& record, ChannelIndex::List list);
    Result<List> take_extras(NameId name, const ChannelRecord& record, ChannelIndex::List list);
    void add_dependency(SpecId id, Asks& asks) const;
    void loosen(Candidate& candidate);
    List keep(Asks asks);
    Result<void> check_extras() const;
    std::span<const SpecId> keep_list(std::vector<SpecId> list);
    void link_specs();
    void excuse_installed();
    void note_left_out();

    const Problem* problem_ = nullptr;
    std::vector<Name> names_;
    std::vector<Spec> specs_;
    std::vector<Candidate> candidates_;
    std::vector<Version> versions_;
    Conditions conditions_;
    std::vector<SpecId> requested_;
    std::vector<SpecId> constraints_;
    std::vector<const Constraint*> constraint_of_;  ///< of each of constraints_
    std::vector<NameId> kept_;
    std::vector<std::string> notes_;
    bool has_conditional_constrains_ = false;  ///< a note says so
    std::vector<NameId> queue_;
    std::unordered_map<std::string, NameId> name_ids_;
    std::unordered_map<std::string, SpecId> spec_ids_;
    std::unordered_map<const ChannelIndex*, std::vector<SpecId>> index_specs_;
    std::deque<NameRecords> homes_;          ///< what the candidates' rows are read by
    std::deque<std::vector<SpecId>> lists_;  ///< what their spans point to
    // Of the home at hand: what its lists and versions are here; a version that cannot be read is
    // kNone.
    KnownLists home_depends_;
    KnownLists home_constrains_;
    KnownLists home_extras_;
    std::vector<std::optional<VersionId>> home_versions_;
    std::vector<std::uint32_t> channel_of_index_;
    std::optional<Accelerator> found_accelerator_;  ///< what Auto prefers
    Cascade cascade_;
    Keeping keeping_;
};

}  // namespace gpkg::solver
