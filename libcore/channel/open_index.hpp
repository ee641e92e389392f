#pragma once

// From the bytes of a repodata to a ChannelIndex: read once, kept as a mapped file beside them.

#include "libcore/channel/fetch_index.hpp"
#include "libcore/index/channel_index.hpp"

#include <memory>
#include <stop_token>

namespace gpkg {

/// Opens the index that was made of what was fetched, and makes it where it is not there or is not
/// usable. Two processes may do that at once. A cache that cannot be written costs time, not the
/// answer. `fetched` must not be the index of shards. Fails with Interrupted once `stop` is
/// requested.
Result<std::shared_ptr<const ChannelIndex>> open_index(const FetchedIndex& fetched,
                                                       const fs::path& cache,
                                                       const std::stop_token& stop = {});

}  // namespace gpkg
