#include "libcore/indexing/indexer.hpp"

#include "libcore/fs/file_system.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/fs/turn.hpp"
#include "libcore/indexing/channeldata.hpp"
#include "libcore/indexing/index_file.hpp"
#include "libcore/indexing/patch_instructions.hpp"
#include "libcore/indexing/subdir_indexer.hpp"
#include "libcore/spec/names.hpp"

#include <array>
#include <deque>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace gpkg {
namespace {

/// Held while the channel is written: of two indexers the second waits. Where there is no such
/// lock work goes on without: every file is written whole, and the next run mends the rest.
Result<Descriptor> turn_to_index(const fs::path& channel, const IndexerOptions& options) {
    auto turn = wait_for_turn(channel, options.cancelled);
    if (!turn) return fail(ErrorKind::Interrupted, "interrupted");
    return *std::move(turn);
}

Result<void> check_is_channel(const fs::path& channel) {
    std::error_code code;
    if (fs::is_directory(channel, code)) return {};
    return fail(ErrorKind::NotFound, fmt::format("{}: no such channel folder", channel.native()));
}

}  // namespace

ChannelIndexer::ChannelIndexer(fs::path channel, IndexerOptions options)
    : channel_(std::move(channel)), options_(std::move(options)) {}

ChannelIndexer::~ChannelIndexer() = default;

Result<bool> ChannelIndexer::look() {
    GPKG_CHECK(check_is_channel(channel_));
    std::set<std::string> subdirs{"noarch"};
    for (const auto* folder : std::to_array<const fs::path*>({&channel_, &options_.overlay})) {
        std::error_code code;
        for (const auto& entry : fs::directory_iterator(*folder, code)) {
            const auto name = entry.path().filename().native();
            if (entry.is_directory(code) && is_known_subdir(name)) subdirs.insert(name);
        }
    }
    bool changed = std::exchange(has_news_, false);
    for (const auto& subdir : subdirs) {
        auto& indexer = subdirs_[subdir];
        if (!indexer)
            indexer = std::make_unique<SubdirIndexer>(channel_ / subdir, subdir, options_);
        GPKG_TRY(const bool this_one, indexer->look());
        changed = changed || this_one;
    }
    return changed;
}

std::string ChannelIndexer::repodata(const std::string& subdir) const {
    const auto found = subdirs_.find(subdir);
    return found == subdirs_.end() ? std::string() : found->second->published().repodata();
}

Result<IndexSummary> ChannelIndexer::write() {
    if (!options_.overlay.empty())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: cannot write an index for packages from other folders",
                                channel_.native()));
    GPKG_CHECK(check_is_channel(channel_));
    GPKG_TRY(const auto turn, turn_to_index(channel_, options_));
    GPKG_TRY(auto publication, Publication::begin(channel_, options_));
    remove_dead_temporaries(channel_);
    remove_dead_temporaries((channel_ / kStatementFile).parent_path());
    // Others may have added packages, and written indexes that name them.
    GPKG_TRY(has_news_, look());
    std::deque<PublishedSubdir> published;
    std::vector<const PublishedSubdir*> all;
    for (const auto& [subdir, indexer] : subdirs_)
        all.push_back(&published.emplace_back(indexer->published()));
    const std::vector<std::function<Result<void>()>> tasks = {
        [&]() -> Result<void> {
            auto one = published.begin();
            for (const auto& [subdir, indexer] : subdirs_)
                GPKG_CHECK(indexer->prepare(*one++, publication));
            return {};
        },
        [&] { return publication.add(channel_ / "channeldata.json", channeldata(all)); }};
    GPKG_CHECK(do_all(tasks, options_));
    GPKG_CHECK(publication.publish());
    IndexSummary summary;
    summary.files = publication.files();
    summary.signature = publication.signature();
    auto one = published.begin();
    for (const auto& [subdir, indexer] : subdirs_) GPKG_CHECK(indexer->complete(*one++, summary));
    return summary;
}

Result<void> check_can_index(const fs::path& channel, const IndexerOptions& options) {
    GPKG_CHECK(Publication::begin(channel, options));
    return {};
}

Result<IndexSummary> index_channel(const fs::path& channel, const IndexerOptions& options) {
    if (options.drop_patch) GPKG_CHECK(drop_patch(channel));
    if (options.patch) GPKG_CHECK(adopt_patch(channel, *options.patch));
    return ChannelIndexer(channel, options).write();
}

}  // namespace gpkg
