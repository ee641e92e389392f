#include "libcore/channel/reached_index.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/channel/shards_internal.hpp"
#include "libcore/index/repodata.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gpkg {
namespace {

constexpr std::string_view kHeading = "names and shards of an index, 1";
using Hashes = std::map<std::string, ShardHash, std::less<>>;

/// What an index says beside its records. An index made of the same shards is another when it
/// changes.
std::string about(const ShardIndex& shards) {
    std::string text(shards.base_url());
    for (const auto& part : {shards.relations().base, shards.relations().overrides})
        text += '\0' + part;
    for (const auto& note : shards.notes()) text += '\0' + note;
    return hex_digest(DigestKind::Sha256, text);
}

std::string list_text(std::string_view about, const Hashes& hashes) {
    auto text = fmt::format("{}\n{}", kHeading, about);
    for (const auto& [name, hash] : hashes) text += fmt::format("\n{} {}", to_hex(hash), name);
    return text + "\n";
}

std::optional<Hashes> parse_list(std::string_view text, std::string_view about) {
    const auto lines = split(text, '\n');
    if (lines.size() < 3 || lines[0] != kHeading || lines[1] != about || !lines.back().empty())
        return std::nullopt;
    Hashes hashes;
    for (const auto line : std::span(lines).subspan(2, lines.size() - 3)) {
        if (line.size() < 66 || line[64] != ' ' || !is_hex(line.substr(0, 64), 64))
            return std::nullopt;
        hashes.emplace(line.substr(65), origin_of(line.substr(0, 64)));
    }
    return hashes;
}

/// One sharded subdir: what was kept of it, and what is made of it now.
class Subdir {
public:
    Subdir(const FetchedIndex& fetched, const ShardedSubdir& sharded, const fs::path& cache)
        : source_{fetched.channel.base_url(), fetched.subdir, fetched.url},
          shards_(*sharded.index),
          about_(about(*sharded.index)),
          cache_(cache),
          key_(hex_digest(DigestKind::Sha256, fetched.channel.subdir_url(fetched.subdir))
                   .substr(0, 16)),
          writer_(fs::temp_directory_path()) {
        load();
    }

    /// On which names the records of `ref` depend, where they are kept.
    std::optional<NameSet> known(const ShardRef& ref) const;
    Result<void> add(const ShardRef& ref, const Shard& shard);
    bool is_new() const { return !made_.empty() || !kept_index_; }
    /// What is kept, still right, and not yet made anew: all of it that is in `reached`, and what
    /// is here of the rest unless that is more than `most`.
    void add_left(const NameSet& reached, std::size_t most, NameSet& to) const;
    Result<SharedIndex> finish(std::vector<std::string>& notes);

private:
    void load();
    fs::path list_file() const {
        return shard_cache::folder(cache_) / fmt::format("{}{}", key_, shard_cache::kList);
    }
    fs::path index_file(std::string_view list) const {
        return shard_cache::folder(cache_) / shard_cache::index_name(key_, list);
    }

    IndexSource source_;
    const ShardIndex& shards_;
    std::string about_;
    fs::path cache_;
    std::string key_;
    Hashes kept_;  ///< for which names `kept_index_` is complete
    SharedIndex kept_index_;
    Hashes made_;
    IndexWriter writer_;
    std::vector<std::string> left_out_;
};

void Subdir::load() {
    const auto list = read_file(list_file());
    if (!list) return;
    auto kept = parse_list(*list, about_);
    if (!kept) return;
    auto index = ChannelIndex::open(
        index_file(*list), source_, origin_of(hex_digest(DigestKind::Sha256, *list)));
    if (!index) return;
    kept_ = *std::move(kept);
    kept_index_ = std::make_shared<const ChannelIndex>(*std::move(index));
}

std::optional<NameSet> Subdir::known(const ShardRef& ref) const {
    const auto found = kept_.find(ref.name);
    if (found == kept_.end() || found->second != ref.hash) return std::nullopt;
    NameSet names;
    if (!add_dependency_names(*kept_index_, ref.name, names)) return std::nullopt;  // damaged
    return names;
}

Result<void> Subdir::add(const ShardRef& ref, const Shard& shard) {
    made_.emplace(ref.name, ref.hash);
    for (const auto& record : shard.records) GPKG_CHECK(writer_.add(record));
    for (const auto fn : shard.removed) writer_.remove(fn);
    left_out_.insert(left_out_.end(), shard.notes.begin(), shard.notes.end());
    return {};
}

void Subdir::add_left(const NameSet& reached, std::size_t most, NameSet& to) const {
    std::vector<std::string> rest;
    for (const auto& [name, hash] : kept_) {
        const auto* now = shards_.find(name);
        if (now == nullptr || *now != hash || made_.contains(name)) continue;
        std::error_code code;
        if (reached.contains(name)) {
            to.insert(name);
        } else if (fs::exists(shard_cache::shard_file(cache_, to_hex(hash)), code)) {
            rest.push_back(name);
        }
    }
    if (rest.size() <= most) to.insert(rest.begin(), rest.end());
}

Result<SharedIndex> Subdir::finish(std::vector<std::string>& notes) {
    if (!is_new()) return kept_index_;
    writer_.set_base_url(shards_.base_url());
    writer_.set_relations(shards_.relations());
    for (const auto& note : shards_.notes()) writer_.add_note(note);
    std::sort(left_out_.begin(), left_out_.end());
    if (!left_out_.empty())
        writer_.add_note(
            left_out_.size() == 1
                ? left_out_.front()
                : fmt::format("{} packages have records that are left out, the first: {}",
                              left_out_.size(),
                              left_out_.front()));
    const auto list = list_text(about_, made_);
    const auto origin = origin_of(hex_digest(DigestKind::Sha256, list));
    std::string bytes;
    GPKG_CHECK(write_index(std::move(writer_), origin, source_, [&](std::string_view part) {
        bytes += part;
        return Result<void>{};
    }));
    const auto path = index_file(list);
    auto kept = write_file_atomically(path, bytes);
    if (kept) kept = write_file_atomically(list_file(), list);
    if (!kept) {
        // It costs time, not the answer.
        notes.push_back(kept.error().message);
        GPKG_TRY(auto index, ChannelIndex::from_bytes(std::move(bytes), source_));
        return std::make_shared<const ChannelIndex>(std::move(index));
    }
    GPKG_TRY(auto index, ChannelIndex::open(path, source_, origin));
    return std::make_shared<const ChannelIndex>(std::move(index));
}

/// What is reached through all of them, and the shards that this needs.
class Reaching {
public:
    Reaching(Transport& transport,
             std::span<const FetchedIndex> fetched,
             std::span<SharedIndex> indexes,
             ReachOptions options)
        : transport_(transport),
          fetched_(fetched),
          indexes_(indexes),
          options_(std::move(options)) {}

    Result<std::vector<std::string>> operator()(std::span<const std::string> roots);

private:
    Result<void> open();
    Result<void> reach(std::span<const std::string> roots);
    Result<void> complete();

    Transport& transport_;
    std::span<const FetchedIndex> fetched_;
    std::span<SharedIndex> indexes_;
    ReachOptions options_;
    std::vector<ShardedSubdir> sharded_;
    std::vector<std::size_t> places_;  ///< of those among the fetched
    std::vector<Subdir> subdirs_;
    NameSet reached_;
};

Result<std::vector<std::string>> Reaching::operator()(std::span<const std::string> roots) {
    std::vector<std::string> notes;
    GPKG_CHECK(open());
    GPKG_CHECK(reach(roots));
    GPKG_CHECK(complete());
    for (std::size_t i = 0; i < subdirs_.size(); ++i) {
        GPKG_TRY(indexes_[places_[i]], subdirs_[i].finish(notes));
    }
    return notes;
}

Result<void> Reaching::open() {
    for (std::size_t i = 0; i < fetched_.size(); ++i) {
        if (!fetched_[i].sharded) continue;
        GPKG_TRY(auto sharded, open_shard_index(fetched_[i]));
        sharded_.push_back(std::move(sharded));
        places_.push_back(i);
    }
    for (std::size_t i = 0; i < sharded_.size(); ++i)
        subdirs_.emplace_back(fetched_[places_[i]], sharded_[i], options_.shards.cache);
    options_.shards.on_shard = [this](const ShardRef& ref, const Shard& shard) {
        return subdirs_[ref.subdir].add(ref, shard);
    };
    return {};
}

Result<void> Reaching::reach(std::span<const std::string> roots) {
    options_.shards.known = [this](const ShardRef& ref) { return subdirs_[ref.subdir].known(ref); };
    ShardFetcher fetcher(transport_, sharded_, options_.shards);
    const auto expand = [&](std::span<const std::string> names) -> Result<NameSet> {
        GPKG_TRY(auto found, fetcher(names));
        for (std::size_t i = 0; i < fetched_.size(); ++i) {
            if (fetched_[i].sharded || !indexes_[i]) continue;
            for (const auto& name : names)
                GPKG_CHECK(add_dependency_names(*indexes_[i], name, found));
        }
        return found;
    };
    GPKG_TRY(const auto names, close_over_names(roots, expand));
    reached_.insert(names.begin(), names.end());
    return {};
}

/// Where anything was new, what was kept goes into the new index as well.
Result<void> Reaching::complete() {
    std::vector<NameSet> left(subdirs_.size());
    NameSet names;
    for (std::size_t i = 0; i < subdirs_.size(); ++i) {
        if (!subdirs_[i].is_new()) continue;
        subdirs_[i].add_left(reached_, options_.most_kept, left[i]);
        names.insert(left[i].begin(), left[i].end());
    }
    if (names.empty()) return {};
    options_.shards.known = [&](const ShardRef& ref) -> std::optional<NameSet> {
        if (left[ref.subdir].contains(std::string(ref.name))) return std::nullopt;
        return NameSet{};
    };
    ShardFetcher fetcher(transport_, sharded_, options_.shards);
    const std::vector<std::string> all(names.begin(), names.end());
    GPKG_CHECK(fetcher(all));
    return {};
}

}  // namespace

Result<std::vector<std::string>> open_reached(Transport& transport,
                                              std::span<const FetchedIndex> fetched,
                                              std::span<SharedIndex> indexes,
                                              std::span<const std::string> roots,
                                              const ReachOptions& options) {
    return Reaching(transport, fetched, indexes, options)(roots);
}

}  // namespace gpkg
