#pragma once

// What the environments of a build are made from: the output channel as it is at that moment, with
// the unpublished packages of the run laid over it, then the channels of -c. Without -c, specs that
// fail for a package that the output channel lacks are solved with the configured channels too.
// Other channels and the machine are read once. The output channel is not changed.

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
    /// `others` has the channels of -c. Configured ones are used without them only, and not with
    /// --override-channels.
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
    Result<Sources> open_given() const;
    Result<Sources> open_configured() const;
    Result<void> add_channels(Sources& sources, const SourceOptions& options) const;
    void put_own_indexes(Sources& sources) const;
    Result<void> look();
    Result<SolvedTrial> solve_with_configured(const std::vector<std::string>& specs, Error unmet);

    Context& context_;
    SourceOptions options_;
    bool uses_configured_;
    Channel own_;
    TemporaryFolder staging_;
    std::shared_ptr<Transport> transport_;
    std::unique_ptr<PublishedRunExports> run_exports_;
    std::unique_ptr<ChannelIndexer> indexer_;
    std::vector<SharedIndex> own_indexes_;  ///< by subdir
    std::optional<Sources> sources_;        ///< the own channel's indexes first
    /// The same with the configured channels, once they are needed.
    std::optional<Result<Sources>> with_configured_;
    bool is_stale_ = true;  ///< packages came or went since own_indexes_ were read
};

/// The ways of the indexer of a command that may be interrupted.
IndexerOptions build_indexer_options(const Context& context);

}  // namespace gpkg::cli
