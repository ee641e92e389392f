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

/// What an index was made of.
std::string lasting_text(std::string_view about, const Hashes& hashes) {
    std::string text(about);
    for (const auto& [name, hash] : hashes) text += fmt::format("\n{} {}", to_hex(hash), name);
    return text + "\n";
}

/// The list of a subdir: a heading, then what holds for one index of shards, then what lasts.
struct List {
    std::string index_sha256;  ///< of the index of shards with which it was last compared
    NameSet absent;            ///< names that this one does not have
    std::string about;
    Hashes hashes;

    std::string to_string() const {
        auto names = std::vector<std::string>(absent.begin(), absent.end());
        std::sort(names.begin(), names.end());
        return fmt::format("{}\n{}\n{}\n{}",
                           kHeading,
                           index_sha256,
                           fmt::join(names, " "),
                           lasting_text(about, hashes));
    }
    static std::optional<List> parse(std::string_view text);
};

std::optional<List> List::parse(std::string_view text) {
    const auto lines = split(text, '\n');
    if (lines.size() < 5 || lines[0] != kHeading || !lines.back().empty()) return std::nullopt;
    List list;
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

/// One sharded subdir: what was kept of it, and what is made of it now.
class Subdir {
public:
    Subdir(const FetchedIndex& fetched, const fs::path& cache)
        : source_{fetched.channel.base_url(), fetched.subdir, fetched.url},
          shards_file_(fetched.path),
          sha256_(fetched.sha256),
          cache_(cache),
          key_(cache_key(fetched.channel.subdir_url(fetched.subdir))),
          writer_(fs::temp_directory_path()) {
        load();
    }

    /// Whether all in the list holds as it stands.
    bool is_current() const { return kept_index_ && kept_.index_sha256 == sha256_; }
    const SharedIndex& kept_index() const { return kept_index_; }
    bool is_kept(std::string_view name) const {
        return kept_.hashes.contains(name) || kept_.absent.contains(std::string(name));
    }
    /// Adds the names on which the records of `name` depend; false when that is not kept. For one
    /// that is current.
    bool add_kept(std::string_view name, NameSet& to) const;

    void compare_with(std::shared_ptr<const ShardIndex> shards);
    /// On which names the records of `ref` depend, where they are kept.
    std::optional<NameSet> known(const ShardRef& ref) const;
    Result<void> add(const ShardRef& ref, const Shard& shard);
    bool is_new() const { return !made_.empty() || !kept_index_; }
    /// What is kept, still right, and not yet made anew: all of it that is in `reached`, and what
    /// is here of the rest unless that is more than `most`.
    void add_left(const NameSet& reached, std::size_t most, NameSet& to) const;
    Result<SharedIndex> finish(const NameSet& reached, std::vector<std::string>& notes);
    /// Of what was added alone, kept nowhere.
    Result<SharedIndex> finish_unkept();

private:
    void load();
    Result<SharedIndex> make(const List& list, std::vector<std::string>& notes);
    Result<std::string> written(const IndexOrigin& origin);
    SharedIndex shared(ChannelIndex index) const {
        index.list_names_with(names_in(shards_file_, source_.url));
        return std::make_shared<const ChannelIndex>(std::move(index));
    }
    fs::path list_file() const {
        return shard_cache::folder(cache_) / fmt::format("{}{}", key_, shard_cache::kList);
    }
    fs::path index_file(std::string_view lasting) const {
        return shard_cache::folder(cache_) / shard_cache::index_name(key_, lasting);
    }

    IndexSource source_;
    fs::path shards_file_;
    std::string sha256_;
    fs::path cache_;
    std::string key_;
    std::shared_ptr<const ShardIndex> shards_;
    std::string about_;
    List kept_;
    SharedIndex kept_index_;  ///< complete for the names in `kept_.hashes`
    Hashes made_;
    IndexWriter writer_;
    std::vector<std::string> left_out_;
};

void Subdir::load() {
    const auto text = read_file(list_file());
    if (!text) return;
    auto list = List::parse(*text);
    if (!list) return;
    const auto lasting = shard_cache::lasting_part(*text);
    auto index = ChannelIndex::open(index_file(lasting), source_, origin_of_text(lasting));
    if (!index) return;
    kept_ = *std::move(list);
    kept_index_ = shared(*std::move(index));
}

bool Subdir::add_kept(std::string_view name, NameSet& to) const {
    if (kept_.absent.contains(std::string(name))) return true;
    return kept_.hashes.contains(name) && add_dependency_names(*kept_index_, name, to).has_value();
}

void Subdir::compare_with(std::shared_ptr<const ShardIndex> shards) {
    shards_ = std::move(shards);
    about_ = about(*shards_);
    if (about_ == kept_.about) return;
    kept_ = {};
    kept_index_.reset();
}

std::optional<NameSet> Subdir::known(const ShardRef& ref) const {
    const auto found = kept_.hashes.find(ref.name);
    if (found == kept_.hashes.end() || found->second != ref.hash) return std::nullopt;
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

Result<SharedIndex> Subdir::finish(const NameSet& reached, std::vector<std::string>& notes) {
    List list{sha256_, {}, about_, is_new() ? made_ : kept_.hashes};
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
Result<std::string> Subdir::written(const IndexOrigin& origin) {
    writer_.set_base_url(shards_->base_url());
    writer_.set_relations(shards_->relations());
    for (const auto& note : shards_->notes()) writer_.add_note(note);
    std::sort(left_out_.begin(), left_out_.end());
    if (!left_out_.empty())
        writer_.add_note(
            left_out_.size() == 1
                ? left_out_.front()
                : fmt::format("{} packages have records that are left out, the first: {}",
                              left_out_.size(),
                              left_out_.front()));
    return index_bytes(std::move(writer_), origin, source_);
}

Result<SharedIndex> Subdir::finish_unkept() {
    GPKG_TRY(auto bytes, written({}));
    GPKG_TRY(auto index, ChannelIndex::from_bytes(std::move(bytes), source_));
    return shared(std::move(index));
}

Result<SharedIndex> Subdir::make(const List& list, std::vector<std::string>& notes) {
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

/// What is reached through all of them, and the shards that this needs.
class Reaching {
public:
    Reaching(Transport& transport,
             std::span<const FetchedIndex> fetched,
             std::span<SharedIndex> indexes,
             ReachOptions options);

    Result<void> operator()(std::span<const std::string> roots);
    /// The place, among the fetched, of the one whose shards cannot be had, after a failure.
    std::optional<std::size_t> failed() const { return failed_; }
    const std::vector<std::string>& notes() const { return notes_; }

private:
    Result<void> expand_whole(std::span<const std::string> names, NameSet& found) const;
    Result<bool> reach_kept(std::span<const std::string> roots) const;
    Result<void> open();
    Result<void> reach(std::span<const std::string> roots);
    Result<void> complete();
    Result<NameSet> ask(ShardFetcher& fetcher, std::span<const std::string> names);
    Result<void> look_up(std::span<const std::string> names);
    Result<void> fill(const std::function<Result<SharedIndex>(Subdir&)>& make);

    Transport& transport_;
    std::span<const FetchedIndex> fetched_;
    std::span<SharedIndex> indexes_;
    ReachOptions options_;
    std::vector<ShardedSubdir> sharded_;
    std::vector<std::size_t> places_;  ///< of those among the fetched
    std::vector<Subdir> subdirs_;
    NameSet reached_;
    std::optional<std::size_t> failed_;
    std::vector<std::string> notes_;
};

Reaching::Reaching(Transport& transport,
                   std::span<const FetchedIndex> fetched,
                   std::span<SharedIndex> indexes,
                   ReachOptions options)
    : transport_(transport), fetched_(fetched), indexes_(indexes), options_(std::move(options)) {
    for (std::size_t i = 0; i < fetched_.size(); ++i) {
        // The whole may stand in for it already.
        if (!fetched_[i].sharded || indexes_[i]) continue;
        places_.push_back(i);
        subdirs_.emplace_back(fetched_[i], options_.shards.cache);
    }
}

Result<void> Reaching::operator()(std::span<const std::string> roots) {
    if (subdirs_.empty()) return {};
    if (options_.only_roots) return look_up(roots);
    GPKG_TRY(const bool all_kept, reach_kept(roots));
    if (!all_kept) {
        GPKG_CHECK(open());
        GPKG_CHECK(reach(roots));
        GPKG_CHECK(complete());
    }
    return fill([&](Subdir& subdir) -> Result<SharedIndex> {
        return all_kept ? subdir.kept_index() : subdir.finish(reached_, notes_);
    });
}

Result<void> Reaching::expand_whole(std::span<const std::string> names, NameSet& found) const {
    for (const auto& index : indexes_) {
        if (!index) continue;
        for (const auto& name : names) GPKG_CHECK(add_dependency_names(*index, name, found));
    }
    return {};
}

/// Whether all that can be reached is kept, found without a look at any index of shards.
Result<bool> Reaching::reach_kept(std::span<const std::string> roots) const {
    bool is_kept = std::all_of(
        subdirs_.begin(), subdirs_.end(), [](const Subdir& subdir) { return subdir.is_current(); });
    const auto expand = [&](std::span<const std::string> names) -> Result<NameSet> {
        NameSet found;
        for (const auto& name : names) {
            for (const auto& subdir : subdirs_) is_kept = is_kept && subdir.add_kept(name, found);
        }
        if (!is_kept) return NameSet{};
        GPKG_CHECK(expand_whole(names, found));
        return found;
    };
    if (is_kept) GPKG_CHECK(close_over_names(roots, expand));
    return is_kept;
}

Result<void> Reaching::open() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        GPKG_TRY(auto sharded, open_shard_index(fetched_[places_[i]]));
        subdirs_[i].compare_with(sharded.index);
        sharded_.push_back(std::move(sharded));
    }
    options_.shards.on_shard = [this](const ShardRef& ref, const Shard& shard) {
        return subdirs_[ref.subdir].add(ref, shard);
    };
    return {};
}

Result<NameSet> Reaching::ask(ShardFetcher& fetcher, std::span<const std::string> names) {
    auto found = fetcher(names);
    if (!found && fetcher.failed()) failed_ = places_[*fetcher.failed()];
    return found;
}

Result<void> Reaching::reach(std::span<const std::string> roots) {
    options_.shards.known = [this](const ShardRef& ref) { return subdirs_[ref.subdir].known(ref); };
    ShardFetcher fetcher(transport_, sharded_, options_.shards);
    const auto expand = [&](std::span<const std::string> names) -> Result<NameSet> {
        GPKG_TRY(auto found, ask(fetcher, names));
        GPKG_CHECK(expand_whole(names, found));
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
    GPKG_CHECK(ask(fetcher, all));
    return {};
}

/// For only_roots.
Result<void> Reaching::look_up(std::span<const std::string> names) {
    const bool all_kept = std::all_of(subdirs_.begin(), subdirs_.end(), [&](const auto& subdir) {
        return subdir.is_current() && std::all_of(names.begin(), names.end(), [&](auto& name) {
                   return subdir.is_kept(name);
               });
    });
    if (!all_kept) {
        GPKG_CHECK(open());
        ShardFetcher fetcher(transport_, sharded_, options_.shards);
        GPKG_CHECK(ask(fetcher, names));
    }
    return fill([&](Subdir& subdir) -> Result<SharedIndex> {
        return all_kept ? subdir.kept_index() : subdir.finish_unkept();
    });
}

/// A failure leaves them all as they are.
Result<void> Reaching::fill(const std::function<Result<SharedIndex>(Subdir&)>& make) {
    std::vector<SharedIndex> made(subdirs_.size());
    for (std::size_t i = 0; i < subdirs_.size(); ++i) {
        GPKG_TRY(made[i], make(subdirs_[i]));
    }
    for (std::size_t i = 0; i < subdirs_.size(); ++i) indexes_[places_[i]] = std::move(made[i]);
    return {};
}

/// Whether the whole may have what the shards lack.
bool is_about_shards(const Error& error) {
    return error.kind == ErrorKind::Integrity || error.kind == ErrorKind::NotFound ||
           error.kind == ErrorKind::Network || error.kind == ErrorKind::Unsupported;
}

}  // namespace

Result<std::vector<std::string>> open_reached(Transport& transport,
                                              std::span<const FetchedIndex> fetched,
                                              std::span<SharedIndex> indexes,
                                              std::span<const std::string> roots,
                                              const ReachOptions& options) {
    std::vector<std::string> notes;
    for (;;) {
        Reaching reaching(transport, fetched, indexes, options);
        auto reached = reaching(roots);
        if (reached) {
            notes.insert(notes.end(), reaching.notes().begin(), reaching.notes().end());
            return notes;
        }
        auto error = std::move(reached).error();
        const auto place = reaching.failed();
        if (!place || !options.open_whole || !is_about_shards(error)) return pass(std::move(error));
        auto whole = options.open_whole(*place);
        if (!whole)
            return pass(whole.error().kind == ErrorKind::Interrupted ? whole.error() : error);
        indexes[*place] = *std::move(whole);
        notes.push_back(fmt::format("{}; the whole index is used instead", error.message));
    }
}

}  // namespace gpkg
