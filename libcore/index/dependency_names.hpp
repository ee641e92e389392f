#pragma once

// On which names records depend: what has to be there before a solve of them can begin. Conditions
// (CEP 43) and extras (CEP 44) count as if they held; constrains do not.

#include "libcore/index/channel_index.hpp"
#include "libcore/index/shards.hpp"

#include <string>
#include <string_view>
#include <unordered_set>

namespace gpkg {

using NameSet = std::unordered_set<std::string>;

/// Of a shard: never more than it says, virtual packages included.
NameSet dependency_names(const Shard& shard);

/// Adds those of all records that `index` has of `name`. Errors as ChannelIndex::find's.
Result<void> add_dependency_names(const ChannelIndex& index, std::string_view name, NameSet& to);

}  // namespace gpkg
