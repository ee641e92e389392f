#include "libcore/channel/one_index_internal.hpp"
#include "libcore/index/shards.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>

namespace gpkg {
namespace {

constexpr std::string_view kZst = "repodata.json.zst";
constexpr std::string_view kJson = "repodata.json";
constexpr std::string_view kShards = "repodata_shards.msgpack.zst";
constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;
/// How long a server that had no .zst, or no shards, is believed to have none.
constexpr std::int64_t kNoZstFor = 7 * kDay;

std::string age_text(std::int64_t seconds) {
    const auto in = [](std::int64_t count, std::string_view unit) {
        return fmt::format("{} {}{} old", count, unit, count == 1 ? "" : "s");
    };
    if (seconds < kHour) return in(std::max<std::int64_t>(seconds, 0) / 60, "minute");
    if (seconds < 2 * kDay) return in(seconds / kHour, "hour");
    return in(seconds / kDay, "day");
}

/// What a server's answer looks like from outside.
enum class Look { Empty, Text, Compressed };

/// A login page or an error page served as 200 must not become the index of a channel.
Result<Look> look_at(const fs::path& file, const std::string& url) {
    std::array<char, 64> start{};
    std::ifstream in(file, std::ios::binary);
    in.read(start.data(), start.size());
    const std::string_view text(start.data(), static_cast<std::size_t>(in.gcount()));
    if (text.starts_with("\x28\xb5\x2f\xfd")) return Look::Compressed;
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return Look::Empty;
    if (text[first] == '{') return Look::Text;
    if (text.starts_with("\x1f\x8b"))
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: not repodata: the file is gzip-compressed", url),
                    "the server compresses responses that it must not compress");
    std::string shown(text.substr(first, 20));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
    return fail(ErrorKind::Integrity,
                fmt::format("{}: not repodata: starts with '{}'", url, shown),
                "the response may come from a login page or a proxy");
}

/// What the index of shards declares, when it is one.
Result<ChannelRelations> check_shard_index(const fs::path& file, const std::string& url) {
    GPKG_TRY(const auto bytes, read_file(file));
    GPKG_TRY(const auto index, read_shard_index(bytes, url));
    return index.relations();
}

}  // namespace

std::string shards_url(const Channel& channel, std::string_view subdir) {
    return fmt::format("{}/{}", channel.subdir_url(subdir), kShards);
}

Result<bool> OneIndex::settle_here() {
    if (result_.channel.is_local()) {
        if (trust_ != nullptr) return false;
        GPKG_CHECK(read_local());
        return true;
    }
    load_cached();
    if (copy().is_usable && (only_cached_ || is_fresh(copy().state))) {
        auto kept = check_kept();
        if (kept) use_cached();
        if (kept || only_cached_) return kept.map([] { return true; });
    }
    if (!only_cached_) return false;
    return fail_offline(ErrorKind::NotFound,
                        fmt::format("--offline: {} is not in the cache",
                                    result_.channel.subdir_url(result_.subdir)),
                        "run the command once with a network, without --offline");
}

/// Local files change under our feet: they are used where they are, never copied. A .zst that is
/// older than the .json beside it was left behind by an indexer that does not write it.
Result<void> OneIndex::read_local() {
    struct stat zst {};
    struct stat json {};
    const auto folder = result_.channel.folder() / result_.subdir;
    const bool has_zst = ::stat((folder / kZst).c_str(), &zst) == 0 && S_ISREG(zst.st_mode);
    const bool has_json = ::stat((folder / kJson).c_str(), &json) == 0 && S_ISREG(json.st_mode);
    if (!has_zst && !has_json) {
        result_.missing = true;
        result_.url = file_url_of(kJson);
        return {};
    }
    const auto older = [](const timespec& a, const timespec& b) {
        return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
    };
    const bool use_json = !has_zst || (has_json && older(zst.st_mtim, json.st_mtim));
    result_.url = file_url_of(use_json ? kJson : kZst);
    result_.path = folder / (use_json ? kJson : kZst);
    return {};
}

void OneIndex::load_cached() {
    if (options_.shards) load(shards_);
    if (!shards_.is_usable) return load(whole_);
    whole_.state.zst_absent_at = shards_.state.zst_absent_at;
}

void OneIndex::load(Copy& copy) {
    auto loaded = copy.cache.load();
    if (!loaded) return;
    auto& state = copy.state;
    state = *std::move(loaded);
    copy.is_usable = state.missing;
    if (state.missing) return;
    if (!only_cached_ && !is_fresh(state)) transport_.prepare();
    using Condition = IndexCache::Bytes::Condition;
    auto [condition, index] =
        copy.cache.check(state, {result_.channel.base_url(), result_.subdir, state.url});
    copy.is_usable = condition == Condition::Whole;
    copy.index = std::move(index);
    if (condition == Condition::Damaged)
        result_.warnings.push_back(fmt::format("{}: ignored a damaged cached copy", state.url));
}

bool OneIndex::is_believed(std::int64_t absent_at) const {
    return absent_at != 0 && now_ - absent_at < kNoZstFor;
}

bool OneIndex::is_fresh(const CachedState& state) const {
    // That a subdir is missing is asked anew each time: somebody may just have filled it.
    if (state.missing) return false;
    const auto age = now_ - state.checked_at;
    return age >= 0 && age < state.max_age.value_or(0);
}

void OneIndex::use_cached() {
    const auto& [cache, state, is_usable, index] = copy();
    result_.from_cache = true;
    result_.url = state.url;
    result_.missing = state.missing;
    if (state.missing) return;
    result_.path = cache.path_of(state);
    result_.sha256 = state.sha256;
    result_.index = index;
    result_.sharded = shards_.is_usable;
    result_.relations = state.relations;
}

/// What to ask for, the first that is there being the answer.
void OneIndex::plan() {
    const bool no_zst = is_believed(whole_.state.zst_absent_at);
    if (options_.shards && !is_believed(whole_.state.shards_absent_at)) {
        // Once it was too large it is not asked again.
        if (!shards_.is_usable && !no_zst) asks_.push_back({kZst, true});
        asks_.push_back({kShards});
    }
    asks_.push_back({no_zst ? kJson : kZst});
    asks_.push_back({no_zst ? kZst : kJson});
    if (!options_.zst) std::erase_if(asks_, [](const Ask& ask) { return ask.file == kZst; });
    if (!told_) return;
    const auto& told = *told_->statement.files_of(result_.subdir);
    std::erase_if(asks_, [&](const Ask& ask) { return !told.contains(ask.file); });
}

bool OneIndex::has_fallback() const { return asks_.size() > 1 && !asks_.front().only_small; }

GetRequest OneIndex::request() {
    if (asks_.empty()) plan();
    const auto& ask = asks_.front();
    const auto url = file_url_of(ask.file);
    incoming_ = whole_.cache.incoming();
    GetRequest request;
    request.url = result_.channel.with_credentials(url);
    if (has_fallback())
        request.fallback_url = result_.channel.with_credentials(file_url_of(asks_[1].file));
    request.is_optional = asks_.size() > (has_fallback() ? 2U : 1U);
    request.into = incoming_;
    request.most_bytes = ask.only_small ? options_.small : options_.most_bytes;
    request.on_body = [this](const std::string& asked, std::shared_ptr<ArrivingFile> body) {
        // What is signed is verified before anything reads it.
        if (asked == file_url_of(kShards) || told_) return;
        const IndexSource source{result_.channel.base_url(), result_.subdir, asked};
        early_ = std::make_shared<EarlyRecords>(std::move(body), source, options_.cache);
    };
    const auto& known = copy();
    if (known.is_usable && !known.state.missing && known.state.url == url && !told_) {
        request.etag = known.state.etag;
        request.last_modified = known.state.last_modified;
    }
    return request;
}

/// The server has no such file, or none that is of use.
void OneIndex::give_up_on(std::string_view file) {
    std::erase_if(asks_, [&](const Ask& ask) { return ask.file == file; });
    if (file == kShards) {
        // The whole was not looked at while there was a copy of their index.
        if (std::exchange(shards_.is_usable, false)) {
            lost_shards_ = shards_.state;
            load(whole_);
        }
        (void)shards_.cache.forget();  // it would only be asked for again
        whole_.state.shards_absent_at = now_;
    }
    auto& state = whole_.state;
    if (file == kZst && !is_believed(state.zst_absent_at)) state.zst_absent_at = now_;
}

Result<bool> OneIndex::accept(Result<Response> response) {
    auto early = std::exchange(early_, nullptr);
    if (response && response->not_modified) {
        // Where it changes nothing for the next command, a write to a slow disk is saved.
        auto& state = copy().state;
        const bool matters = response->max_age || now_ - state.checked_at > kHour;
        state.checked_at = now_;
        if (response->max_age) state.max_age = response->max_age->count();
        if (matters) save_state();
        use_cached();
        return true;
    }
    if (!response && says_absent(response.error())) {
        const auto second = has_fallback() ? asks_[1].file : std::string_view();
        give_up_on(asks_.front().file);
        if (!second.empty()) give_up_on(second);
        return ask_next(std::move(response).error());
    }
    auto stored = response ? store(*response) : pass(std::move(response).error());
    if (stored && *stored) result_.early = std::move(early);
    if (stored) return stored;
    return accept_failure(std::move(stored).error());
}

/// After an answer that is not an index: something else that the server may have is asked for.
/// Where nothing is left, the subdir is missing, or access to it is refused.
Result<bool> OneIndex::ask_next(Error error) {
    if (error.kind != ErrorKind::NotFound && !no_index_) no_index_ = error;
    if (!asks_.empty()) return false;
    if (told_ && error.kind == ErrorKind::NotFound)
        return distrust(TrustFault::Missing, error.message + ", but the signed statement lists it");
    if (no_index_) error = *std::move(no_index_);
    if (told_) return accept_failure(std::move(error));
    if (error.kind == ErrorKind::NotFound) {
        if (!keep_copy(error)) note_missing();
    } else if (!keep_any_copy(error)) {
        result_.missing = true;
        result_.url = file_url_of(kJson);
        result_.refusal = std::move(error);
    }
    return true;
}

void OneIndex::note_missing() {
    shards_.is_usable = false;
    const auto shards_absent_at = whole_.state.shards_absent_at;
    auto& state = whole_.state = CachedState{};
    state.url = file_url_of(kJson);
    state.missing = true;
    state.checked_at = now_;
    state.shards_absent_at = shards_absent_at;
    if (told_) state.statement = told_->bytes;
    save_state();
    result_.missing = true;
    result_.url = state.url;
}

/// The server has nothing any more, where there was something: a token that ran out looks like that
/// (403 or 404), and so does a proxy. What was here is used, until the server has an index again.
bool OneIndex::keep_copy(const Error& error) {
    if (lost_shards_) {
        shards_.state = *std::move(lost_shards_);
        shards_.is_usable = true;
        save_state();
    }
    const auto& known = copy();
    if (!known.is_usable || known.state.missing || !check_kept()) return false;
    result_.warnings.push_back(fmt::format(
        "{}; using the cached copy, {}", error.message, age_text(now_ - known.state.checked_at)));
    use_cached();
    result_.is_unanswered = true;
    return true;
}

Result<bool> OneIndex::accept_failure(Error error) {
    if (trust_fault(error)) return pass(std::move(error));
    if (!asks_.empty() && asks_.front().only_small && error.kind == ErrorKind::Integrity) {
        asks_.erase(asks_.begin());  // as a rule because it is large
        return false;
    }
    const bool server_is_ill =
        error.kind == ErrorKind::Network || error.kind == ErrorKind::Integrity;
    if (!server_is_ill || !copy().is_usable) return pass(std::move(error));
    if (keep_any_copy(error)) return true;
    return pass(std::move(error));
}

/// The same, be it that there was nothing.
bool OneIndex::keep_any_copy(const Error& error) {
    if (!copy().is_usable || !copy().state.missing || !check_kept()) return keep_copy(error);
    result_.warnings.push_back(error.message + "; assumed to be missing, as when last checked");
    use_cached();
    result_.is_unanswered = true;
    return true;
}

/// False: it is of no use, and something else is to be asked for.
Result<bool> OneIndex::store(const Response& response) {
    const auto url = without_secrets(response.asked);
    if (url != file_url_of(asks_.front().file)) give_up_on(asks_.front().file);
    const bool is_shards = url == file_url_of(kShards);
    if (auto as_told = check_told(url, response.sha256); !as_told) {
        std::error_code ignored;
        fs::remove(incoming_, ignored);
        return pass(std::move(as_told).error());
    }
    Result<ChannelRelations> usable;
    auto look = look_at(incoming_, url);
    // An empty repodata.json is an index without records (CEP 36). It is no .zst, and where records
    // were before it is a server's mistake.
    if (look && *look == Look::Empty &&
        (url != file_url_of(kJson) || (copy().is_usable && !copy().state.missing)))
        look = fail(ErrorKind::Integrity, url + ": empty response", "try again later");
    if (!look) usable = pass(look.error());
    if (usable && is_shards) usable = check_shard_index(incoming_, url);
    if (!usable) {
        std::error_code ignored;
        fs::remove(incoming_, ignored);
        if (!is_shards) {
            give_up_on(asks_.front().file);
            return ask_next(std::move(usable).error());
        }
        if (!look && shards_.is_usable) return pass(std::move(usable).error());
        // Those of the future are no trouble; the channel has repodata.json as well. A page in
        // their place is how some servers say that they have none.
        if (look && usable.error().kind != ErrorKind::Unsupported)
            result_.warnings.push_back(usable.error().message + "; not using shards");
        give_up_on(kShards);
        return false;
    }
    CachedState state;
    state.url = url;
    state.etag = response.etag;
    state.last_modified = response.last_modified;
    if (response.max_age) state.max_age = response.max_age->count();
    state.checked_at = now_;
    if (!url.ends_with(kZst)) state.zst_absent_at = whole_.state.zst_absent_at;
    if (!is_shards) state.shards_absent_at = whole_.state.shards_absent_at;
    state.relations = *std::move(usable);
    if (told_) state.statement = told_->bytes;
    const auto extension = is_shards                   ? ".msgpack.zst"
                           : *look == Look::Compressed ? ".json.zst"
                                                       : ".json";
    auto& kept = is_shards ? shards_ : whole_;
    if (kept.is_usable && !kept.state.missing)
        result_.before = std::make_shared<const CachedState>(kept.state);
    GPKG_CHECK(kept.cache.adopt(incoming_, response.sha256, extension, state));
    kept.state = std::move(state);
    kept.is_usable = true;
    kept.index.reset();
    save_state();
    use_cached();
    result_.from_cache = false;
    return true;
}

/// A cache that cannot be written costs time, not the answer.
void OneIndex::save_state() {
    if (auto saved = copy().cache.save(copy().state); !saved)
        result_.warnings.push_back(std::move(saved).error().message);
}

}  // namespace gpkg
