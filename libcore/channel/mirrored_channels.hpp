#pragma once

// Channels whose files come from mirrors, as settings name them. What libcore/net makes of it is in
// net/mirrors.hpp; whoever fetches indexes and packages sees nothing of it.

#include "libcore/channel/channel.hpp"
#include "libcore/net/mirrors.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpkg {

/// As conda's mirrored_channels has it: a channel, and the URLs or folders to ask in its place.
using MirroredChannel = std::pair<std::string, std::vector<std::string>>;

Result<std::vector<MirroredPlace>> mirrored_places(std::span<const MirroredChannel> channels,
                                                   const ChannelContext& context);

}  // namespace gpkg
