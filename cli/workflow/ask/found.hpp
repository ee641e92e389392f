#pragma once

// Records that a spec matches, in channels or in an environment, and how they are shown.

#include "cli/context.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/spec/match_spec.hpp"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace gpkg::cli {

class Table;

/// Channels in which something is looked for: at least the records of the names in question.
struct Searched {
    std::vector<Channel> channels;
    std::string platform;
    std::vector<SharedIndex> indexes;
    std::optional<std::int64_t> exclude_newer;

    /// "conda-forge or bioconda for linux-64"
    std::string where() const;
};

/// Asks channels, before any index is open: a channel or subdir in the spec says where to look, as
/// far as flags do not.
struct Inquiry {
    static Result<Inquiry> begin(Context& context,
                                 const MatchSpec& spec,
                                 SourceOptions options,
                                 Extent extent);

    Channels channels;
    Searched searched;  ///< without indexes
};

/// Whether a name is all that it asks for.
bool is_name_alone(const MatchSpec& spec);

/// The names that a spec means, as far as builds of that many are looked at.
Result<std::vector<std::string>> names_meant(const Inquiry& inquiry, const MatchSpec& spec);

/// What search found: builds, or of more names than anybody reads builds of the names alone.
struct Found {
    std::vector<PackageRecord> records;  ///< by name, the newest last
    std::vector<std::string> names;      ///< empty when there are records
};
Result<Found> search_channels(Context& context,
                              const MatchSpec& spec,
                              const SourceOptions& options);

/// The records of `names` that the spec matches, by name, the newest last.
Result<std::vector<PackageRecord>> find_records(const MatchSpec& spec,
                                                std::span<const std::string> names,
                                                const Searched& searched);

/// The name of the error that no channel has a package, as conda's.
inline constexpr auto kNotInChannels = "PackagesNotFoundInChannelsError";

/// Says what is wrong with a spec that nothing matches: its name, or the rest.
tl::unexpected<Error> nothing_found(const MatchSpec& spec, const Searched& searched);
/// The same, and where a name is not there for the platform but for another: that may take indexes
/// of that one. `options` as they were looked with.
tl::unexpected<Error> nothing_found(Context& context,
                                    const MatchSpec& spec,
                                    const SourceOptions& options,
                                    const Searched& searched);
/// The same of a name that is none of `known`.
tl::unexpected<Error> no_such_name(const MatchSpec& spec,
                                   const Searched& searched,
                                   const std::set<std::string>& known);

/// Marks the installed packages that the spec matches; NotFound, with near names, where none does.
Result<std::vector<bool>> find_installed(const MatchSpec& spec,
                                         const std::vector<PrefixRecord>& installed,
                                         const fs::path& prefix);

/// `what`, a spec on `name`, matches no installed package of `prefix`. The hint is a similar name,
/// else `otherwise`.
Error not_installed(std::string_view what,
                    std::string_view name,
                    const std::vector<PrefixRecord>& installed,
                    const fs::path& prefix,
                    std::string otherwise = {});

/// As text; with `info` everything about each record.
void print_found(const Context& context, const MatchSpec& spec, const Found& found, bool info);
/// How a table with the columns name, version, build and channel is fitted to a screen.
void shorten_record_columns(Table& table);
/// A line for each.
void print_records(const Context& context, std::span<const PackageRecord> records);

/// "conda-forge/linux-64"
std::string channel_text(const Context& context, const PackageRecord& record);

/// What conda's `search --json` has of a record: its channel ends in the subdir.
nlohmann::ordered_json search_json(const PackageRecord& record);

}  // namespace gpkg::cli
