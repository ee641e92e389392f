#pragma once

// Which channels may be used: allowlist_channels and denylist_channels of the configuration. What
// is on this machine already, in folders or in the package store, is not their business unless a
// list denies it.

#include "cli/context.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/spec/package_record.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpkg::cli {

/// Conflict with the first that is refused, by which file, and what is allowed.
Result<void> check_allowed(const Context& context, std::span<const Channel> channels);
/// The same for packages that are about to be fetched, by their URLs: locks and lists of URLs name
/// them without any channel.
Result<void> check_allowed(const Context& context, const std::vector<PackageRecord>& packages);

/// Of mirrors that stand in for channels: those that the site's own settings do not name have to be
/// allowed by its rules as channels have.
Result<void> check_mirrors(const Context& context);

/// URLs of the channels that every list of allowed channels contains.
Result<std::vector<std::string>> channels_allowed_by_all(const Context& context);

/// The channels of a rule as people may see them.
std::vector<std::string> named_in(const ChannelRule& rule);

}  // namespace gpkg::cli
