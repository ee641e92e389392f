#pragma once

// Channels that belong together (CEP 42): a channel names the one it builds upon (its base, ranked
// above it) and the one it overrides (ranked below it). From the user's channels and what they and
// those they name declare comes the list of channels that a solve works with.

#include "libcore/channel/channel.hpp"
#include "libcore/index/channel_relations.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What every subdir of one channel declares; each speaks for itself.
using Declarations = std::vector<ChannelRelations>;
/// Reads the indexes of `channels` and tells what each declares, in their order.
using LoadDeclarations =
    std::function<Result<std::vector<Declarations>>(std::span<const Channel> channels)>;

struct RelationOptions {
    std::size_t most_depth = 10;  ///< steps away from a channel of the user; 0: nothing is followed
    fs::path local_root;          ///< local channels must lie below it; empty: anywhere
    ChannelContext context;       ///< for the names of channels
};

struct RelatedChannels {
    std::vector<Channel> channels;  ///< the most important first
    /// What a person may want to hear: "conda-forge is used as well: it is the base of bioconda".
    std::vector<std::string> added;
    /// "bioconda declares conda-forge as its base; the order you gave is kept"
    std::vector<std::string> ignored;
};

/// The channel that `reference` ("../conda-forge") means where `declaring` says it. It has the
/// origin of `declaring`, and its credentials.
Result<Channel> resolve_reference(const Channel& declaring,
                                  std::string_view reference,
                                  const RelationOptions& options);

/// The user's channels, whose order holds, with all that they bring along. `load` is called once
/// for each step away from them, with the channels not seen before. Circles, references that leave
/// the origin, and chains beyond `most_depth` are errors that say who declares what.
Result<RelatedChannels> relate_channels(std::span<const Channel> wanted,
                                        const LoadDeclarations& load,
                                        const RelationOptions& options);

}  // namespace gpkg
