#pragma once

// What the world of one solve is made of: names, the records that each could become, and the specs
// about them.

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cascade.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/spec/match_spec.hpp"
#include "solver/conditions.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
    const std::string& channel() const { return index->source().channel; }
    Result<PackageRecord> record() const { return index->record(*home, *row); }
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
    bool is_accelerator_inferred = false;         ///< it is what the build brings that says it
    std::optional<ToolkitRange> toolkit{};        ///< that it goes with; first, what it depends on
    ToolkitFit toolkit_fit{};                     ///< how well that suits the driver
    Closeness closeness;                          ///< to the machine
    bool will_not_run = false;                    ///< on this driver and these GPUs (running.hpp)
    SpecId unusable_need = kNone;          ///< because all that this dependency takes will not
    ChannelRecord offered;                 ///< where it stands in a channel
    const PackageRecord* given = nullptr;  ///< installed or virtual, when no channel has it
    std::span<const SpecId> depends;       ///< that apply wherever the candidate is
    std::span<const SpecId> conditional;   ///< that apply where their `when` holds; extras too
    std::span<const SpecId> constrains;
    /// Specs on virtual packages that this machine does not meet and that nevertheless are not
    /// among the above: the record is installed, and where it stays they ask for nothing.
    std::span<const SpecId> excused;
    /// Dependencies that the request leaves out (--no-deps). Builds are compared by them all the
    /// same: who installs a package so adds its dependencies next.
    std::span<const SpecId> not_asked;

    bool is_offered() const { return offered.row != nullptr; }
    /// Not by its dependencies' builds alone.
    bool says_accelerator_itself() const { return says_accelerator && !is_accelerator_inferred; }
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

/// What a candidate depends on and constrains with what no record says (derived_dependencies.hpp).
struct DerivedLists {
    CandidateId candidate = kNone;
    std::span<const SpecId> depends;
    std::span<const SpecId> constrains;
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
        OtherBlas,
        OtherMpi,
        Unreadable,
    };
    Why why;
    ChannelRecord record;
    std::uint32_t channel = 0;  ///< 0 is the highest

    bool is_other_variant() const { return why == Why::OtherBlas || why == Why::OtherMpi; }
    bool is_other_than_installed() const {
        return why == Why::OtherChannel || why == Why::OtherAccelerator || is_other_variant();
    }
};

struct Name {
    std::string text;
    CandidateId begin = 0;  ///< its candidates are begin .. end
    CandidateId end = 0;
    bool is_virtual = false;       ///< "__cuda": true or false from the start, never chosen
    bool is_reached = false;       ///< its candidates are to be collected
    bool is_toolkit_part = false;  ///< its version may tell the release of a toolkit
    bool is_vendor_part = false;   ///< its builds are for no accelerator (libcore/hardware)
    /// Stands for the toolkit of this vendor (derived_dependencies.hpp).
    std::optional<Accelerator> toolkit_of{};
    /// Stands for a spec of the request that has a condition: of one candidate, which has the spec
    /// as its conditional dependency.
    bool is_request = false;
    /// As if somebody published such a package. It is in no solution.
    bool is_unpublished() const { return is_request || toolkit_of; }
    std::vector<SpecId> specs;  ///< that are about it
    std::vector<LeftOut> left_out;
    /// Whether a record is left out for this.
    bool lacks(LeftOut::Why why) const {
        return std::ranges::find(left_out, why, &LeftOut::why) != left_out.end();
    }
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
    std::optional<ToolkitRange> toolkit{};
    Closeness closeness;
    bool is_derived = false;  ///< no record says it (derived_dependencies.hpp)
    bool will_not_run = false;
    bool will_not_run_constrained = false;  ///< the same of one that has it in `constrains`
    std::vector<ConditionId> extras;        ///< that who depends on it asks for

    bool allows(CandidateId id) const {
        return std::binary_search(matches.begin(), matches.end(), id);
    }
};

}  // namespace gpkg::solver
