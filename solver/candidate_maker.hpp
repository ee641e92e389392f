#pragma once

// Makes candidates of the records of channels, and of those that are installed or stand for the
// machine. Most rows of one name in one channel share their lists of specs, so each list is read
// once.

#include "libcore/index/channel_index.hpp"
#include "libcore/solve/solve.hpp"
#include "solver/spec_table.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

class CandidateMaker {
public:
    /// All must outlive it; versions are added to `versions`.
    CandidateMaker(const Request& request, SpecTable& table, std::vector<Version>& versions)
        : request_(request), table_(table), versions_(versions) {}

    /// From now on rows are those of `home`.
    void begin(const NameRecords& home);
    /// Nothing where a version or a dependency cannot be read.
    Result<std::optional<Candidate>> of_row(NameId name,
                                            const ChannelRecord& record,
                                            std::uint32_t channel);
    /// Nothing where the version cannot be read. An installed package stays usable even where its
    /// metadata is older than today's rules: what else cannot be read is passed over.
    std::optional<Candidate> of_given(NameId name, const PackageRecord& record);

private:
    /// What a list of specs is of a record.
    enum class Role { Depends, Constrains, Extras };
    /// A list of specs, and what they say of the build that has it.
    struct SpecList {
        std::span<const SpecId> specs{};        ///< that apply wherever the record is
        std::span<const SpecId> conditional{};  ///< that apply where their `when` holds
        bool is_readable = true;                ///< else it is empty
        HintedAccelerator accelerator{};
        std::optional<ToolkitRange> toolkit{};
        Closeness closeness{};
        bool will_not_run = false;
    };

    VersionId add_version(Result<Version> version);
    Result<SpecId> intern(const ChannelIndex& index, ChannelIndex::SpecNumber number);
    Result<SpecList> list_of(Role role,
                             ChannelIndex::List list,
                             NameId name,
                             const ChannelRecord& record);
    Result<bool> read(ChannelIndex::List list,
                      const ChannelRecord& record,
                      std::vector<SpecId>& ids);
    Result<bool> read_extras(NameId name, const ChannelRecord& record, std::vector<SpecId>& ids);
    SpecList keep(Role role, const std::vector<SpecId>& ids);
    void complete(Candidate& candidate, const SpecList& depends, const SpecList& constrains);
    bool says_it_runs(const Candidate& candidate) const;
    void loosen(Candidate& candidate);

    const Request& request_;
    SpecTable& table_;
    std::vector<Version>& versions_;
    std::unordered_map<const ChannelIndex*, std::vector<SpecId>> specs_of_index_;
    // Of the home at hand:
    std::array<std::unordered_map<ChannelIndex::List, SpecList>, 3> known_;  ///< by role
    std::vector<std::optional<VersionId>> home_versions_;  ///< kNone for one that cannot be read
};

}  // namespace gpkg::solver
