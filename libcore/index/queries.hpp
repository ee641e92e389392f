#pragma once

// What is asked of an index beside all about a name: which records a spec matches, and which depend
// on what it matches. Specs are asked once each, not once per record that has them.

#include "libcore/index/channel_index.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/version.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Hands the records of `name` that `spec` matches to `take`, best first, until it says false.
/// `newest` as NameRecords::choices has it. Errors as ChannelIndex::find's.
Result<void> each_match(const ChannelIndex& index,
                        std::string_view name,
                        const MatchSpec& spec,
                        std::optional<std::int64_t> newest,
                        const std::function<bool(PackageRecord)>& take);

/// Packages of one name, to be asked what they meet.
class Providers {
public:
    /// Records whose version is not a version meet nothing.
    explicit Providers(std::vector<PackageRecord> records);
    /// Whether any of them does, its condition and extras aside.
    bool meet(const MatchSpec& spec) const;

private:
    struct OfVersion {
        Version version;
        std::vector<PackageRecord> records;
    };
    std::vector<OfVersion> versions_;
};

/// Dependency specs of an index, marked by their number.
using SpecMarks = std::vector<bool>;

/// Marks those that name `name`, or match it with a pattern.
Result<void> mark_specs_on(const ChannelIndex& index, std::string_view name, SpecMarks& marks);
/// Of the same specs marks those that can be read and that `is_meant`.
Result<void> mark_specs_on(const ChannelIndex& index,
                           std::string_view name,
                           const std::function<bool(const MatchSpec&)>& is_meant,
                           SpecMarks& marks);

/// The records of a name that have a marked spec among their depends or in a group of extras.
struct Dependents {
    NameRecords of;
    std::vector<const ChannelIndex::Row*> rows;  ///< best first; at least one
};

/// All of them, by name. Errors as ChannelIndex::find's.
Result<std::vector<Dependents>> dependents(const ChannelIndex& index,
                                           const SpecMarks& marks,
                                           std::optional<std::int64_t> newest);

/// Why a record is a dependent.
struct MarkedSpec {
    std::string_view spec;
    std::string_view extra;  ///< the group of extras; empty: among its depends
};
Result<std::vector<MarkedSpec>> marked_specs(const ChannelIndex& index,
                                             const NameRecords& of,
                                             const ChannelIndex::Row& row,
                                             const SpecMarks& marks);

}  // namespace gpkg
