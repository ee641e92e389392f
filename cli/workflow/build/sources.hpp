#pragma once

// What the environments of a build are made from: the channel that is built for, as it is at that
// moment, with the packages of the run that are not published laid over it, then the other channels
// and the machine, looked at once. Of the channel nothing is changed.

#include "cli/workflow/build/trial.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/channel/published_run_exports.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/package/info.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

class BuildSources {
public:
    /// `others` has the user's channels; those of the configuration are left out.
    static Result<BuildSources> of(Context& context,
                                   const SourceOptions& others,
                                   const fs::path& channel);

    /// A channel folder for the packages of the run until they are published; gone with this.
    const fs::path& staging() const { return staging_.path(); }

    /// What satisfies the specs, with every package that lies in the channel and in staging() now.
    Result<SolvedTrial> solve(const std::vector<std::string>& specs);

    /// What the package adds to those that are built with it: by its channel, which can mend that,
    /// else by the package, which lies unpacked at `folder`.
    Result<RunExports> run_exports_of(const PackageRecord& record, const fs::path& folder);

private:
    BuildSources(Context& context,
                 std::shared_ptr<Transport> transport,
                 const SourceOptions& others,
                 TrustOptions trust,
                 Channel own,
                 TemporaryFolder staging);
    Result<Sources> open_others() const;
    Result<void> look();

    Context& context_;
    SourceOptions options_;
    Channel own_;
    TemporaryFolder staging_;
    std::shared_ptr<Transport> transport_;
    std::unique_ptr<PublishedRunExports> run_exports_;
    std::unique_ptr<ChannelIndexer> indexer_;
    std::optional<Sources> sources_;  ///< the own channel's indexes first
    bool is_stale_ = true;            ///< packages came or went since sources_ was made
};

/// The ways of the indexer of a command that may be interrupted.
IndexerOptions build_indexer_options(const Context& context);

}  // namespace gpkg::cli
