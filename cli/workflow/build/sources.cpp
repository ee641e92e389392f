#include "cli/workflow/build/sources.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/index/repodata.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {

IndexerOptions build_indexer_options(const Context& context) {
    constexpr int kReaders = 2;
    IndexerOptions options;
    options.jobs = kReaders;
    options.cancelled = [stop = context.stop] { return stop.stop_requested(); };
    return options;
}

BuildSources::BuildSources(Context& context,
                           std::shared_ptr<Transport> transport,
                           const SourceOptions& others,
                           TrustOptions trust,
                           Channel own,
                           TemporaryFolder staging)
    : context_(context),
      options_(others),
      own_(std::move(own)),
      staging_(std::move(staging)),
      transport_(std::move(transport)) {
    options_.override_channels = true;
    IndexOptions fetching;
    fetching.cache = context.config.index_cache();
    fetching.offline = options_.offline;
    fetching.transfer.stop = context.stop;
    run_exports_ =
        std::make_unique<PublishedRunExports>(*transport_, std::move(fetching), std::move(trust));
    auto options = build_indexer_options(context);
    options.overlay = staging_.path();
    indexer_ = std::make_unique<ChannelIndexer>(own_.folder(), std::move(options));
}

Result<BuildSources> BuildSources::of(Context& context,
                                      const SourceOptions& others,
                                      const fs::path& channel) {
    GPKG_TRY(auto own, Channel::parse(file_url(channel), {}));
    GPKG_TRY(auto staging, TemporaryFolder::make(folder_for_temporary(), "gpkg-staging-"));
    GPKG_TRY(auto transport, open_transport(context));
    GPKG_TRY(auto trust, trust_options(context));
    return BuildSources(context,
                        std::move(transport),
                        others,
                        std::move(trust),
                        std::move(own),
                        std::move(staging));
}

/// Without the channel that is built for, which may be named with -c as well.
Result<Sources> BuildSources::open_others() const {
    Sources sources;
    GPKG_TRY(sources.machine, machine_of(context_, options_));
    sources.priority = channel_priority(context_, options_);
    GPKG_TRY(sources.exclude_newer, newest_of(options_));
    GPKG_TRY(sources.virtual_packages, detected_packages(context_, sources.machine));
    if (options_.channels.empty()) return sources;
    GPKG_TRY(auto wanted, wanted_channels(context_, options_));
    std::erase(wanted, own_);
    const auto subdirs = subdirs_for(sources.machine.platform);
    GPKG_TRY(const auto channels,
             Channels::fetch(context_, wanted, subdirs, options_.offline, Extent::Whole));
    GPKG_TRY(sources.indexes, channels.reach({}));
    sources.channels = channels.list();
    return sources;
}

Result<void> BuildSources::look() {
    GPKG_TRY(const bool changed, indexer_->look());
    is_stale_ = is_stale_ || changed;
    if (!sources_) {
        GPKG_TRY(sources_, open_others());
        const auto subdirs = subdirs_for(sources_->machine.platform);
        sources_->channels.insert(sources_->channels.begin(), own_);
        sources_->indexes.insert(sources_->indexes.begin(), subdirs.size(), nullptr);
    }
    if (!is_stale_) return {};
    auto place = sources_->indexes.begin();
    for (const auto& subdir : subdirs_for(sources_->machine.platform)) {
        const IndexSource source{
            own_.base_url(), subdir, own_.subdir_url(subdir) + "/repodata.json"};
        GPKG_TRY(auto index, read_repodata(indexer_->repodata(subdir), source));
        *place++ = std::make_shared<const ChannelIndex>(std::move(index));
    }
    is_stale_ = false;
    return {};
}

Result<SolvedTrial> BuildSources::solve(const std::vector<std::string>& specs) {
    GPKG_CHECK(look());
    GPKG_TRY(auto solved, solve_trial(context_, *sources_, specs));
    // Their records say that they lie in the channel.
    for (auto& record : solved.records) {
        const auto file = staging() / record.subdir / record.fn;
        std::error_code code;
        if (record.channel == own_.base_url() && fs::exists(file, code))
            record.url = file_url(file);
    }
    return solved;
}

Result<RunExports> BuildSources::run_exports_of(const PackageRecord& record,
                                                const fs::path& folder) {
    const auto is_its_own = [&](const Channel& channel) {
        return channel.base_url() == record.channel;
    };
    // What is not published lies in staging, under no channel's index.
    const bool is_staged = record.url.starts_with(file_url(staging()) + "/");
    const auto& channels = sources_->channels;
    const auto channel = std::find_if(channels.begin(), channels.end(), is_its_own);
    if (is_staged || channel == channels.end()) return read_run_exports(folder);
    GPKG_TRY(const auto published, run_exports_->of(*channel, record));
    if (!published) return read_run_exports(folder);
    return parse_run_exports(*published, fmt::format("run_exports.json of {}", channel->name()));
}

}  // namespace gpkg::cli
