#include "cli/workflow/build_sources.hpp"

#include "libcore/index/repodata.hpp"
#include "libcore/net/url.hpp"

namespace gpkg::cli {
namespace {

constexpr int kReaders = 2;

IndexerOptions indexer_options(const Context& context) {
    IndexerOptions options;
    options.jobs = kReaders;
    options.cancelled = [stop = context.stop] { return stop.stop_requested(); };
    return options;
}

}  // namespace

BuildSources::BuildSources(Context& context, const SourceOptions& others, const fs::path& channel)
    : context_(context), options_(others), indexer_(channel, indexer_options(context)) {
    options_.channels.insert(options_.channels.begin(), file_url(channel));
    options_.override_channels = true;
}

Result<void> BuildSources::look() {
    GPKG_TRY(const bool changed, indexer_.look());
    stale_ = stale_ || changed;
    return {};
}

Result<const Sources*> BuildSources::now() {
    GPKG_CHECK(look());
    if (!sources_) {
        GPKG_TRY(sources_, open_whole_sources(context_, options_));
        stale_ = true;
    }
    if (stale_) {
        const auto own = sources_->channels.front().base_url();
        for (auto& index : sources_->indexes) {
            const auto& source = index->source();
            if (source.channel != own) continue;
            GPKG_TRY(auto newer, read_repodata(indexer_.repodata(source.subdir), source));
            index = std::make_shared<const ChannelIndex>(std::move(newer));
        }
    }
    stale_ = false;
    return &*sources_;
}

Result<IndexSummary> BuildSources::write_index() {
    GPKG_CHECK(look());
    return indexer_.write();
}

}  // namespace gpkg::cli
