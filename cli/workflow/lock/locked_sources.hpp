#pragma once

// The channels that a lock names, opened to decide for its classes again.

#include "cli/workflow/sources.hpp"
#include "libcore/lock/lock_file.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg::cli {

/// Channels by their URLs, with the user's credentials for those that are configured or given in
/// `sources`.
Result<std::vector<Channel>> with_credentials(const Context& context,
                                              const std::vector<std::string>& urls,
                                              const SourceOptions& sources);

/// All channels of the lock and of its environments.
Result<std::vector<Channel>> channels_of(const Context& context,
                                         const LockFile& lock,
                                         const SourceOptions& sources);

/// The machine that a class was made for.
Seen seen_of(const LockedClass& locked);

/// What a class is decided from: what is asked for, and what it has.
std::vector<std::string> names_in(const std::vector<MatchSpec>& specs,
                                  const std::vector<PackageRecord>& packages);

/// What a channel has today of a package that is locked: the very package, with what its index says
/// of it now, or why it is to be had no more.
struct OfChannel {
    std::optional<PackageRecord> record{};
    std::string why_gone{};  ///< "its channel has it no more"
};
Result<OfChannel> of_channel(const PackageRecord& locked, const std::vector<SharedIndex>& indexes);

/// The options as the lock's request has them, where the user says nothing else.
SourceOptions as_locked(const LockFile& lock, SourceOptions sources);

/// Of names whose packages may have another version: python takes python_abi along.
bool are_naming(const std::set<std::string>& names, const std::string& name);

/// Such packages have to be in the lock: NotFound with near names.
Result<void> check_has(const LockFile& lock, const std::set<std::string>& names);

}  // namespace gpkg::cli
