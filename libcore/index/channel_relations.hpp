#pragma once

// What an index says about other channels (CEP 42): `info.channel_relations` of repodata.json or of
// a shard index, as written. What becomes of it is decided in libcore/channel/relations.hpp.

#include <string>

namespace gpkg {

struct ChannelRelations {
    std::string base;       ///< reference of the channel ranked above this one; empty: none
    std::string overrides;  ///< of the channel ranked below it; empty: none

    friend bool operator==(const ChannelRelations&, const ChannelRelations&) = default;
};

}  // namespace gpkg
