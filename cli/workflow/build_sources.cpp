#include "cli/workflow/build_sources.hpp"

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
                           const SourceOptions& others,
                           Channel own,
                           TemporaryFolder staging)
    : context_(context), options_(others), own_(std::move(own)), staging_(std::move(staging)) {
    options_.override_channels = true;
    auto options = build_indexer_options(context);
    options.overlay = staging_.path();
    indexer_ = std::make_unique<ChannelIndexer>(own_.folder(), std::move(options));
}

Result<BuildSources> BuildSources::of(Context& context,
                                      const SourceOptions& others,
                                      const fs::path& channel) {
    GPKG_TRY(auto own, Channel::parse(file_url(channel), {}));
    GPKG_TRY(auto staging, TemporaryFolder::make(folder_for_temporary(), "gpkg-staging-"));
    return BuildSources(context, others, std::move(own), std::move(staging));
}

/// Without the channel that is built for, which may be named with -c as well.
Result<Sources> BuildSources::open_others() const {
    Sources sources;
    GPKG_TRY(sources.machine, machine_of(context_, options_));
    sources.priority = channel_priority(context_, options_);
    GPKG_TRY(sources.exclude_newer, newest_of(options_));
    GPKG_TRY(sources.virtual_packages, virtual_packages_of(context_, sources.machine));
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

}  // namespace gpkg::cli
