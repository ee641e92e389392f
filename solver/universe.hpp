#pragma once

// The closed world of one solve: every candidate that the request can reach, with names, versions
// and dependency specs as small integers. Hard filters (subdir, strict
// priority, exclude-newer, readable specs) are applied here; nothing is ranked or dropped for being
// worse.

#include "libcore/index/channel_index.hpp"
#include "libcore/solve/solve.hpp"
#include "libcore/spec/accelerator.hpp"
#include "libcore/spec/cascade.hpp"
#include "libcore/spec/condition.hpp"
#include "solver/conditions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

using VersionId = std::uint32_t;
using CandidateId = std::uint32_t;

/// A record of a channel, with what it takes to read it.
struct ChannelRecord {
    const ChannelIndex* index = nullptr;
    const NameRecords* home = nullptr;
    const ChannelIndex::Row* row = nullptr;

    std::string_view version() const { return home->version(*row); }
    /// The groups of extra dependencies that it has (CEP 44).
    std::vector<std::string_view> groups() const;
    bool matches(const MatchSpec& spec) const;
    /// The same for those who have the version parsed.
    bool matches(const MatchSpec& spec, const Version& parsed) const;
};

/// One record that could become part of the environment.
struct Candidate {
    NameId name = kNone;
    VersionId version = kNone;
    std::uint32_t channel = 0;  ///< 0 is the highest
    std::uint64_t build_number = 0;
    std::int64_t timestamp = 0;
    bool has_track_features = false;
    bool is_installed = false;
    bool is_noarch = false;
    Accelerator accelerator = Accelerator::None;  ///< that the build is for
    bool says_accelerator = false;                ///< else it knows of none
    Closeness closeness;                          ///< to the machine
    bool exceeds_driver = false;                  ///< is for a CUDA that the driver is too old for
    ChannelRecord offered;                        ///< where it stands in a channel
    const PackageRecord* given = nullptr;         ///< installed or virtual, when no channel has it
    std::span<const SpecId> depends;              ///< that apply wherever the candidate is
    std::span<const SpecId> conditional;  ///< that apply where their `when` holds; extras too
    std::span<const SpecId> constrains;
    /// Specs on virtual packages that this machine does not meet and that nevertheless are not
    /// among the above: the record is installed, and where it stays they ask for nothing.
    std::span<const SpecId> excused;

    bool is_offered() const { return offered.row != nullptr; }
    std::vector<std::string_view> groups() const;
    /// CEP 45.
    std::vector<std::string> flags() const;
    std::string_view build() const {
        return is_offered() ? offered.home->build(*offered.row) : given->build;
    }
    bool is_conda() const {
        return is_offered() ? offered.row->is_conda : given->fn.ends_with(".conda");
    }
    std::string sha256() const;
    Result<PackageRecord> record() const;
};

/// A record of a channel that is no candidate, and why.
struct LeftOut {
    enum class Why {
        Hidden,       ///< by strict channel priority
        Newer,        ///< than exclude_newer
        Accelerator,  ///< for none that may be taken
        // Other than what is installed, which nobody asked to change in this.
        OtherChannel,
        OtherAccelerator,
        OtherVariant,  ///< BLAS or MPI
        Unreadable,
    };
    Why why;
    ChannelRecord record;

    bool is_other_than_installed() const {
        return why == Why::OtherChannel || why == Why::OtherAccelerator || why == Why::OtherVariant;
    }
};

struct Name {
    std::string text;
    CandidateId begin = 0;  ///< its candidates are begin .. end
    CandidateId end = 0;
    bool is_virtual = false;     ///< "__cuda": true or false from the start, never chosen
    bool is_reached = false;     ///< its candidates are to be collected
    bool is_collected = false;   ///< and were
    bool follows_asked = false;  ///< what is asked for in another build chooses its build
    /// What is asked for of these channels in place of its own may bring it from there.
    std::set<std::string> follows_to;
    std::vector<SpecId> specs;  ///< that are about it
    std::vector<LeftOut> left_out;
};

/// A distinct MatchSpec and what it matches. One that asks on a condition is another spec than the
/// same without.
struct Spec {
    MatchSpec match;  ///< without `when`
    NameId name = kNone;
    std::string text;                  ///< as it stood where it was met first
    std::vector<CandidateId> matches;  ///< ascending; filled once the name is reached
    ConditionId when = kAlways;        ///< as a dependency it applies only where this holds
    /// What it says, as a dependency, of the build that has it.
    HintedAccelerator accelerator;
    Closeness closeness;
    bool exceeds_driver = false;
    std::vector<ConditionId> extras;  ///< that who depends on it asks for

    bool allows(CandidateId id) const {
        return std::binary_search(matches.begin(), matches.end(), id);
    }
};

/// What BLAS and MPI a build is with, of which an environment has one; empty where it does not say.
using Kind = std::array<std::string, 2>;

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
    /// The record of the name that is installed, or gone, whose channel and kind are kept.
    struct Former {
        const PackageRecord& record;
        bool is_gone = false;
    };
    std::optional<Former> former(NameId name) const;
    /// The accelerator whose builds are to be taken of the name, if any, rather than others.
    std::optional<Accelerator> preferred_accelerator(NameId name) const;
    /// Whether others are not to be taken at all.
    bool is_bound_to_accelerator(NameId name) const;
    bool is_requested(NameId name) const;
    /// Whether all of the request's specs and constraints on its name match.
    bool is_as_requested(CandidateId id) const;
    /// "numpy 1.26.4 py312h_0", for messages.
    std::string describe(CandidateId id) const;

private:
    Universe() = default;
    /// A list of specs of an index, in our numbers; empty when it cannot be used.
    struct List {
        std::span<const SpecId> specs;
        std::span<const SpecId> conditional;
        bool is_readable = true;
        /// What the dependencies say of the build.
        HintedAccelerator accelerator{};
        Closeness closeness{};
        bool exceeds_driver = false;
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
    void reach_first(NameId name);
    void reach_from(const Candidate& candidate);
    Result<void> collect_candidates(NameId name);
    Result<bool> add_row(NameId name, const ChannelRecord& record, std::uint32_t channel);
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
    std::vector<const MatchSpec*> said_of(NameId name) const;
    bool is_asked_in_another_build(NameId name) const;
    std::set<std::string> other_channels_asked(NameId name) const;
    bool may_come_of(NameId name, const std::string& channel) const;
    void follow_to_channels(NameId name);
    Kind kept_kind(NameId name) const;
    void let_parts_follow(NameId name);
    void let_kind_change(NameId name);
    /// What may change of an installed package, as the specs on its name say.
    struct Freedom {
        bool channel = false;
        bool build = false;
    };
    Freedom freedom_of(NameId name) const;
    std::optional<std::string> kept_channel(NameId name) const;
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
    std::array<bool, 2> may_change_{};              ///< of a Kind: another is asked for
    std::optional<Cascade> cascade_;
};

Kind kind_of(const PackageRecord& record);

/// Whether two channels, as records and indexes name them, are one or mirrors of one.
bool is_same_channel(std::string_view a, std::string_view b);

}  // namespace gpkg::solver
