#pragma once

// Where packages may come from and what machine they are for: channels, their indexes, the virtual
// packages. Made once per command, before anything is decided.

#include "cli/context.hpp"
#include "cli/workflow/channels.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/source_options.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/solve/solve.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpkg::cli {

struct Sources {
    Machine machine;
    ChannelPriority priority = ChannelPriority::Strict;
    std::vector<Channel> channels;  ///< the most important first
    std::vector<std::shared_ptr<const ChannelIndex>> indexes;
    std::vector<PackageRecord> virtual_packages;
    std::optional<std::int64_t> exclude_newer;  ///< Unix milliseconds
};

/// A machine that is decided for.
struct Seen {
    Machine machine;
    std::vector<PackageRecord> virtual_packages;
};

/// Of channels and a machine that are known: all that a request can reach which starts from
/// `names`. Of `options` count channel priority, moment and network.
Result<Sources> open_sources(Context& context,
                             Seen seen,
                             const std::vector<Channel>& channels,
                             const SourceOptions& options,
                             std::span<const std::string> names);

/// All that a request can reach which starts from `names`. Warnings go to the user.
Result<Sources> open_sources(Context& context,
                             const SourceOptions& options,
                             std::span<const std::string> names);

/// The same for requests that are not known yet: every record of the channels.
Result<Sources> open_whole_sources(Context& context, const SourceOptions& options);

/// The channels alone, for commands that decide nothing.
Result<Channels> fetch_channels(Context& context, const SourceOptions& options, Extent extent);

/// Has the channels that specs name asked as well, as conda does.
void ask_channels_of(std::span<const MatchSpec> specs, SourceOptions& options);

/// The channels that are asked for, without those that come along.
Result<std::vector<Channel>> wanted_channels(const Context& context, const SourceOptions& options);

/// The error of a command that searches channels when there are none.
Error no_channels();

/// In the state of an environment, where they are not just what is configured. Earlier ones stay
/// behind them.
Result<void> remember_channels(const Context& context,
                               GpkgState& state,
                               const std::vector<Channel>& channels);

ChannelPriority channel_priority(const Context& context, const SourceOptions& options);

/// What --exclude-newer takes for "no limit", where something remembers one.
inline constexpr const char* kNoMoment = "none";

/// The limit of --exclude-newer in Unix milliseconds, if there is one.
Result<std::optional<std::int64_t>> newest_of(const SourceOptions& options);

/// --exclude-newer as a lock file records it: a duration such as 7d becomes the time it means now.
std::string fixed_moment(const SourceOptions& options);

}  // namespace gpkg::cli
