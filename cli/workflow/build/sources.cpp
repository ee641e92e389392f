#include "cli/workflow/build/sources.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/index/repodata.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

/// Whether the request failed for a package that no channel has: another channel may have it.
bool lacks_package(const Error& error) {
    if (error.kind != ErrorKind::Unsatisfiable || error.details.empty()) return false;
    const auto details = nlohmann::json::parse(error.details);
    for (const auto& clash : details.value("clashes", nlohmann::json::array())) {
        for (const auto& line : clash) {
            if (line.contains("channels")) return true;
        }
    }
    return false;
}

}  // namespace

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
      uses_configured_(others.channels.empty() && !others.override_channels),
      own_(std::move(own)),
      staging_(std::move(staging)),
      transport_(std::move(transport)) {
    options_.override_channels = true;
    IndexOptions fetching;
    fetching.cache = context.config.index_cache();
    fetching.transfer.offline = options_.offline;
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

/// The output channel is always first, and may be named with -c or configured as well.
Result<void> BuildSources::add_channels(Sources& sources, const SourceOptions& options) const {
    GPKG_TRY(auto wanted, wanted_channels(context_, options));
    std::erase(wanted, own_);
    if (wanted.empty()) return {};
    const auto subdirs = subdirs_for(sources.machine.platform);
    GPKG_TRY(const auto channels,
             Channels::fetch(context_, wanted, subdirs, options_.offline, Extent::Whole));
    GPKG_TRY(auto indexes, channels.reach({}));
    sources.channels.insert(sources.channels.end(), channels.list().begin(), channels.list().end());
    std::move(indexes.begin(), indexes.end(), std::back_inserter(sources.indexes));
    return {};
}

Result<Sources> BuildSources::open_given() const {
    Sources sources;
    GPKG_TRY(sources.machine, machine_of(context_, options_));
    sources.priority = channel_priority(context_, options_);
    GPKG_TRY(sources.exclude_newer, newest_of(options_));
    GPKG_TRY(sources.virtual_packages, detected_packages(context_, sources.machine));
    sources.channels.push_back(own_);
    sources.indexes.resize(subdirs_for(sources.machine.platform).size());
    if (!options_.channels.empty()) GPKG_CHECK(add_channels(sources, options_));
    return sources;
}

Result<Sources> BuildSources::open_configured() const {
    auto sources = *sources_;
    GPKG_CHECK(add_channels(sources, {}));
    return sources;
}

void BuildSources::put_own_indexes(Sources& sources) const {
    std::copy(own_indexes_.begin(), own_indexes_.end(), sources.indexes.begin());
}

Result<void> BuildSources::look() {
    GPKG_TRY(const bool changed, indexer_->look());
    is_stale_ = is_stale_ || changed;
    if (!sources_) {
        GPKG_TRY(sources_, open_given());
    }
    if (!is_stale_) return {};
    own_indexes_.clear();
    for (const auto& subdir : subdirs_for(sources_->machine.platform)) {
        const IndexSource source{
            own_.base_url(), subdir, own_.subdir_url(subdir) + "/repodata.json"};
        GPKG_TRY(auto index, read_repodata(indexer_->repodata(subdir), source));
        own_indexes_.push_back(std::make_shared<const ChannelIndex>(std::move(index)));
    }
    put_own_indexes(*sources_);
    if (with_configured_ && *with_configured_) put_own_indexes(**with_configured_);
    is_stale_ = false;
    return {};
}

/// Where the configured channels cannot be read either, the error is about what was missing first.
Result<SolvedTrial> BuildSources::solve_with_configured(const std::vector<std::string>& specs,
                                                        Error unmet) {
    if (!with_configured_) with_configured_ = open_configured();
    if (*with_configured_) return solve_trial(context_, **with_configured_, specs);
    const auto& error = with_configured_->error();
    if (error.kind == ErrorKind::Interrupted) return pass(Error(error));
    unmet.hint += fmt::format("{}the configured channels cannot be used: {}",
                              unmet.hint.empty() ? "" : "\n",
                              error.message);
    return pass(std::move(unmet));
}

Result<SolvedTrial> BuildSources::solve(const std::vector<std::string>& specs) {
    GPKG_CHECK(look());
    auto solved = solve_trial(context_, *sources_, specs);
    if (!solved && uses_configured_ && lacks_package(solved.error()))
        solved = solve_with_configured(specs, std::move(solved).error());
    if (!solved) return solved;
    // Their records say that they lie in the channel.
    for (auto& record : solved->records) {
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
    const auto& channels =
        with_configured_ && *with_configured_ ? (*with_configured_)->channels : sources_->channels;
    const auto channel = std::find_if(channels.begin(), channels.end(), is_its_own);
    if (is_staged || channel == channels.end()) return read_run_exports(folder);
    GPKG_TRY(const auto published, run_exports_->of(*channel, record));
    if (!published) return read_run_exports(folder);
    return parse_run_exports(*published, fmt::format("run_exports.json of {}", channel->name()));
}

}  // namespace gpkg::cli
