#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/channel/kept_subdir_internal.hpp"
#include "libcore/channel/shard_cache_internal.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/index/repodata.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace gpkg {
namespace {

constexpr std::string_view kHeading = "names and shards of an index, 1";
using Hashes = KeptList::Hashes;

/// What an index says beside its records. An index made of the same shards is another when it
/// changes.
std::string about(const ShardIndex& shards) {
    std::string text(shards.base_url());
    for (const auto& part : {shards.relations().base, shards.relations().overrides})
        text += '\0' + part;
    for (const auto& note : shards.notes()) text += '\0' + note;
    return hex_digest(DigestKind::Sha256, text);
}

/// What an index was made of.
std::string lasting_text(std::string_view about, const Hashes& hashes) {
    std::string text(about);
    for (const auto& [name, hash] : hashes) text += fmt::format("\n{} {}", to_hex(hash), name);
    return text + "\n";
}

IndexOrigin origin_of_text(std::string_view text) {
    return origin_of(hex_digest(DigestKind::Sha256, text));
}

/// The names of an index of shards; none where it is gone by now.
ChannelIndex::ListNames names_in(const fs::path& file, const std::string& url) {
    return [=] {
        std::vector<std::string> names;
        const auto bytes = read_file(file);
        if (!bytes) return names;
        const auto index = read_shard_index(*bytes, url);
        if (!index) return names;
        for (const auto& entry : index->entries()) names.emplace_back(entry.name);
        return names;
    };
}

}  // namespace

std::string KeptList::to_string() const {
    auto names = std::vector<std::string>(absent.begin(), absent.end());
    std::sort(names.begin(), names.end());
    return fmt::format("{}\n{}\n{}\n{}",
                       kHeading,
                       index_sha256,
                       fmt::join(names, " "),
                       lasting_text(about, hashes));
}

std::optional<KeptList> KeptList::parse(std::string_view text) {
    const auto lines = split(text, '\n');
    if (lines.size() < 5 || lines[0] != kHeading || !lines.back().empty()) return std::nullopt;
    KeptList list;
    list.index_sha256 = lines[1];
    for (const auto name : split(lines[2], ' ')) list.absent.emplace(name);
    list.about = lines[3];
    for (const auto line : std::span(lines).subspan(4, lines.size() - 5)) {
        if (line.size() < 66 || line[64] != ' ' || !is_hex(line.substr(0, 64), 64))
            return std::nullopt;
        list.hashes.emplace(line.substr(65), origin_of(line.substr(0, 64)));
    }
    return list;
}

KeptSubdir::KeptSubdir(const FetchedIndex& fetched, const fs::path& cache)
    : source_{fetched.channel.base_url(), fetched.subdir, fetched.url},
      shards_file_(fetched.path),
      sha256_(fetched.sha256),
      cache_(cache),
      key_(cache_key(fetched.channel.subdir_url(fetched.subdir))),
      writer_(folder_for_temporary()) {
    load();
}

SharedIndex KeptSubdir::shared(ChannelIndex index) const {
    index.list_names_with(names_in(shards_file_, source_.url));
    return std::make_shared<const ChannelIndex>(std::move(index));
}

fs::path KeptSubdir::list_file() const {
    return shard_cache::folder(cache_) / fmt::format("{}{}", key_, shard_cache::kList);
}

fs::path KeptSubdir::index_file(std::string_view lasting) const {
    return shard_cache::folder(cache_) / shard_cache::index_name(key_, lasting);
}

void KeptSubdir::load() {
    const auto text = read_file(list_file());
    if (!text) return;
    auto list = KeptList::parse(*text);
    if (!list) return;
    const auto lasting = shard_cache::lasting_part(*text);
    auto index = ChannelIndex::open(index_file(lasting), source_, origin_of_text(lasting));
    if (!index) return;
    kept_ = *std::move(list);
    kept_index_ = shared(*std::move(index));
}

bool KeptSubdir::add_kept(std::string_view name, NameSet& to) const {
    if (kept_.absent.contains(std::string(name))) return true;
    return kept_.hashes.contains(name) && add_dependency_names(*kept_index_, name, to).has_value();
}

void KeptSubdir::compare_with(std::shared_ptr<const ShardIndex> shards) {
    shards_ = std::move(shards);
    about_ = about(*shards_);
    if (about_ == kept_.about) return;
    kept_ = {};
    kept_index_.reset();
}

std::optional<NameSet> KeptSubdir::known(const ShardRef& ref) const {
    const auto found = kept_.hashes.find(ref.name);
    if (found == kept_.hashes.end() || found->second != ref.hash) return std::nullopt;
    NameSet names;
    if (!add_dependency_names(*kept_index_, ref.name, names)) return std::nullopt;  // damaged
    return names;
}

Result<void> KeptSubdir::add(const ShardRef& ref, const Shard& shard) {
    made_.emplace(ref.name, ref.hash);
    for (const auto& record : shard.records) GPKG_CHECK(writer_.add(record));
    for (const auto fn : shard.removed) writer_.remove(fn);
    left_out_.insert(left_out_.end(), shard.notes.begin(), shard.notes.end());
    return {};
}

void KeptSubdir::add_left(const NameSet& reached, std::size_t most, NameSet& to) const {
    std::vector<std::string> rest;
    for (const auto& [name, hash] : kept_.hashes) {
        const auto* now = shards_->find(name);
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

Result<SharedIndex> KeptSubdir::finish(const NameSet& reached, std::vector<std::string>& notes) {
    KeptList list{sha256_, {}, about_, is_new() ? made_ : kept_.hashes};
    const auto add_absent = [&](const NameSet& names) {
        for (const auto& name : names) {
            if (shards_->find(name) == nullptr) list.absent.insert(name);
        }
    };
    add_absent(reached);
    if (kept_.absent.size() < 10 * reached.size()) add_absent(kept_.absent);
    if (is_new()) return make(list, notes);
    // One that another request reached may have changed since: this list is then no word on it.
    const bool all_hold =
        std::all_of(list.hashes.begin(), list.hashes.end(), [&](const auto& kept) {
            const auto* now = shards_->find(kept.first);
            return now != nullptr && *now == kept.second;
        });
    if (!all_hold) list.index_sha256.clear();
    const auto text = list.to_string();
    if (read_file(list_file()) == text) return kept_index_;
    if (auto kept = write_file_atomically(list_file(), text); !kept)
        notes.push_back(kept.error().message);
    return kept_index_;
}

/// The bytes of the index of what was added.
Result<std::string> KeptSubdir::written(const IndexOrigin& origin) {
    writer_.set_base_url(shards_->base_url());
    writer_.set_relations(shards_->relations());
    for (const auto& note : shards_->notes()) writer_.add_note(note);
    std::sort(left_out_.begin(), left_out_.end());
    if (!left_out_.empty())
        writer_.add_note(left_out_.size() == 1
                             ? left_out_.front()
                             : fmt::format("{} packages have skipped records, the first: {}",
                                           left_out_.size(),
                                           left_out_.front()));
    return index_bytes(std::move(writer_), origin, source_);
}

Result<SharedIndex> KeptSubdir::finish_unkept() {
    GPKG_TRY(auto bytes, written({}));
    GPKG_TRY(auto index, ChannelIndex::from_bytes(std::move(bytes), source_));
    return shared(std::move(index));
}

Result<SharedIndex> KeptSubdir::make(const KeptList& list, std::vector<std::string>& notes) {
    const auto lasting = lasting_text(list.about, list.hashes);
    const auto origin = origin_of_text(lasting);
    GPKG_TRY(auto bytes, written(origin));
    const auto path = index_file(lasting);
    auto kept = write_file_atomically(path, bytes);
    if (kept) kept = write_file_atomically(list_file(), list.to_string());
    if (!kept) {
        // It costs time, not the answer.
        notes.push_back(kept.error().message);
        GPKG_TRY(auto index, ChannelIndex::from_bytes(std::move(bytes), source_));
        return shared(std::move(index));
    }
    GPKG_TRY(auto index, ChannelIndex::open(path, source_, origin));
    return shared(std::move(index));
}

}  // namespace gpkg
