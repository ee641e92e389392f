#pragma once

// What the environments of a build are made from: the channel that is being built, as it is at that
// moment, then the other channels and the machine, looked at once. Others see of the channel what
// its written indexes say: packages that have yet to pass their tests are in none.

#include "cli/workflow/sources.hpp"
#include "libcore/indexing/indexer.hpp"

#include <optional>

namespace gpkg::cli {

class BuildSources {
public:
    /// `others` are the user's channels; those of the configuration are left out.
    BuildSources(Context& context, const SourceOptions& others, const fs::path& channel);

    /// With every package that the channel holds now, which has to have an index. Good until the
    /// next call.
    Result<const Sources*> now();
    /// Writes the indexes of the channel.
    Result<IndexSummary> write_index();

private:
    Result<void> look();

    Context& context_;
    SourceOptions options_;
    ChannelIndexer indexer_;
    std::optional<Sources> sources_;
    bool stale_ = false;  ///< the channel changed since sources_ was made
};

}  // namespace gpkg::cli
