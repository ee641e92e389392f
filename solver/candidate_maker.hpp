#pragma once

// Makes candidates of the records of channels, and of those that are installed or stand for the
// machine.

#include "libcore/solve/solve.hpp"
#include "solver/record_specs.hpp"
#include "solver/spec_table.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gpkg::solver {

class CandidateMaker {
public:
    /// All must outlive it; versions are added to `versions`.
    CandidateMaker(const Request& request, SpecTable& table, std::vector<Version>& versions)
        : request_(request), table_(table), versions_(versions), specs_(table) {}

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
    VersionId add_version(Result<Version> version);
    void complete(Candidate& candidate, const SpecList& depends, const SpecList& constrains);
    bool says_it_runs(const Candidate& candidate) const;
    void loosen(Candidate& candidate);

    const Request& request_;
    SpecTable& table_;
    std::vector<Version>& versions_;
    RecordSpecs specs_;
    /// Of the home at hand; kNone for one that cannot be read.
    std::vector<std::optional<VersionId>> home_versions_;
};

}  // namespace gpkg::solver
