#include "libcore/channel/fetch_index.hpp"

#include "libcore/base/text.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <utility>

namespace gpkg {
namespace {

constexpr std::string_view kZst = "repodata.json.zst";
constexpr std::string_view kJson = "repodata.json";
constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;
/// How long a server that had no .zst is believed to have none.
constexpr std::int64_t kZstAbsentFor = 7 * kDay;

std::string age_text(std::int64_t seconds) {
    const auto in = [](std::int64_t count, std::string_view unit) {
        return fmt::format("{} {}{} old", count, unit, count == 1 ? "" : "s");
    };
    if (seconds < kHour) return in(std::max<std::int64_t>(seconds, 0) / 60, "minute");
    if (seconds < 2 * kDay) return in(seconds / kHour, "hour");
    return in(seconds / kDay, "day");
}

/// A login page or an error page served as 200 must not become the index of a channel.
Result<bool> looks_compressed(const fs::path& file, const std::string& url) {
    std::array<char, 64> start{};
    std::ifstream in(file, std::ios::binary);
    in.read(start.data(), start.size());
    const std::string_view text(start.data(), static_cast<std::size_t>(in.gcount()));
    if (text.starts_with("\x28\xb5\x2f\xfd")) return true;
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] == '{') return false;
    std::string shown(text.substr(first, 20));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
    return fail(ErrorKind::Integrity,
                fmt::format("{}: not a channel index: it begins with '{}'", url, shown),
                "a login page or a proxy may have answered in the server's place");
}

/// Getting one (channel, subdir): what is cached, what to ask, what to make of the answer.
class OneIndex {
public:
    OneIndex(const Channel& channel,
             std::string subdir,
             const IndexOptions& options,
             std::int64_t now)
        : options_(options), now_(now), cache_(options.cache, channel.subdir_url(subdir)) {
        result_.channel = channel;
        result_.subdir = std::move(subdir);
    }

    /// Settles it without the network where that is possible. True: done.
    Result<bool> settle_here();
    GetRequest request();
    Result<void> accept(Result<Response> response);
    FetchedIndex take() && { return std::move(result_); }

private:
    Result<void> read_local();
    void load_cached();
    bool is_fresh() const;
    void use_cached();
    Result<void> store(const Response& response);
    void save_state();
    std::string file_url_of(std::string_view file) const {
        return result_.channel.subdir_url(result_.subdir) + "/" + std::string(file);
    }

    const IndexOptions& options_;
    std::int64_t now_;
    IndexCache cache_;
    CachedState state_;
    bool has_state_ = false;  ///< `state_` can be used
    fs::path incoming_;
    FetchedIndex result_;
};

Result<bool> OneIndex::settle_here() {
    if (result_.channel.is_local()) {
        GPKG_CHECK(read_local());
        return true;
    }
    load_cached();
    if (has_state_ && (options_.offline || is_fresh())) {
        use_cached();
        return true;
    }
    if (!options_.offline) return false;
    return fail(ErrorKind::NotFound,
                fmt::format("{}: not in the cache, and --offline forbids to ask for it",
                            result_.channel.subdir_url(result_.subdir)),
                "run the command once without --offline");
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
    auto state = cache_.load();
    if (!state) return;
    state_ = *std::move(state);
    has_state_ = true;
    if (state_.missing) return;
    const auto found = cache_.check(state_);
    has_state_ = found == IndexCache::Check::Whole;
    if (found == IndexCache::Check::Damaged)
        result_.warnings.push_back(
            fmt::format("{}: the cached copy is damaged and not used", state_.url));
}

bool OneIndex::is_fresh() const {
    // That a subdir is missing is asked anew each time: somebody may just have filled it.
    if (state_.missing) return false;
    const auto age = now_ - state_.checked_at;
    return age >= 0 && age < state_.max_age.value_or(0);
}

void OneIndex::use_cached() {
    result_.from_cache = true;
    result_.url = state_.url;
    result_.missing = state_.missing;
    if (state_.missing) return;
    result_.path = cache_.path_of(state_);
}

GetRequest OneIndex::request() {
    const bool json_first =
        state_.zst_absent_at != 0 && now_ - state_.zst_absent_at < kZstAbsentFor;
    const auto first = file_url_of(json_first ? kJson : kZst);
    const auto second = file_url_of(json_first ? kZst : kJson);
    incoming_ = cache_.incoming();
    GetRequest request;
    request.url = result_.channel.with_credentials(first);
    request.fallback_url = result_.channel.with_credentials(second);
    request.into = incoming_;
    request.most_bytes = options_.most_bytes;
    if (has_state_ && !state_.missing && state_.url == first) {
        request.etag = state_.etag;
        request.last_modified = state_.last_modified;
    }
    return request;
}

Result<void> OneIndex::accept(Result<Response> response) {
    if (response && response->not_modified) {
        // Where it changes nothing for the next command, a write to a slow disk is saved.
        const bool matters = response->max_age || now_ - state_.checked_at > kHour;
        state_.checked_at = now_;
        if (response->max_age) state_.max_age = response->max_age->count();
        if (matters) save_state();
        use_cached();
        return {};
    }
    const bool is_absent = !response && response.error().kind == ErrorKind::NotFound;
    Result<void> stored = response ? store(*response) : pass(std::move(response).error());
    if (stored) return {};

    auto& error = stored.error();
    if (is_absent) {
        state_ = CachedState{};
        state_.url = file_url_of(kJson);
        state_.missing = true;
        state_.checked_at = now_;
        save_state();
        result_.missing = true;
        result_.url = state_.url;
        return {};
    }
    const bool server_is_ill =
        error.kind == ErrorKind::Network || error.kind == ErrorKind::Integrity;
    if (!server_is_ill || !has_state_) return stored;
    result_.warnings.push_back(fmt::format(
        "{}; using the cached copy, {}", error.message, age_text(now_ - state_.checked_at)));
    use_cached();
    return {};
}

Result<void> OneIndex::store(const Response& response) {
    const auto url = without_secrets(response.asked);
    const auto compressed = looks_compressed(incoming_, url);
    if (!compressed) {
        std::error_code ignored;
        fs::remove(incoming_, ignored);
        return pass(compressed.error());
    }
    CachedState state;
    state.url = url;
    state.etag = response.etag;
    state.last_modified = response.last_modified;
    if (response.max_age) state.max_age = response.max_age->count();
    state.checked_at = now_;
    const bool plain = url.ends_with(kJson);
    if (plain) state.zst_absent_at = state_.zst_absent_at;
    // Asked for as second choice: there is no .zst now.
    const bool believed = state_.zst_absent_at != 0 && now_ - state_.zst_absent_at < kZstAbsentFor;
    if (plain && !believed) state.zst_absent_at = now_;
    GPKG_CHECK(cache_.adopt(incoming_, response.sha256, *compressed, state));
    state_ = std::move(state);
    save_state();
    use_cached();
    result_.from_cache = false;
    return {};
}

/// A cache that cannot be written costs time, not the answer.
void OneIndex::save_state() {
    if (auto saved = cache_.save(state_); !saved)
        result_.warnings.push_back(std::move(saved).error().message);
}

/// Somebody who wrote "-c c1" may have meant the folder.
std::string hint_at_folder(const Channel& channel) {
    std::error_code ignored;
    if (channel.is_local() || has_scheme(channel.name()) ||
        !fs::is_directory(channel.name(), ignored))
        return {};
    return fmt::format("a folder {0} is here: -c ./{0} names it", channel.name());
}

/// `error` about a channel, with that hint where it fits.
Error with_folder_hint(Error error, const Channel& channel) {
    const auto hint = hint_at_folder(channel);
    if (hint.empty() || error.kind == ErrorKind::Interrupted) return error;
    error.hint += (error.hint.empty() ? "" : "; ") + hint;
    return error;
}

/// Why a local channel has no index at all.
Error no_local_channel(const Channel& channel, const std::vector<std::string>& asked) {
    const auto folder = channel.folder();
    std::error_code ignored;
    if (!fs::exists(folder, ignored))
        return {ErrorKind::NotFound, folder.native() + ": there is no such folder", "", {}};
    if (!fs::is_directory(folder, ignored)) {
        const bool is_package = !package_extension(folder.native()).empty();
        return {ErrorKind::NotFound,
                folder.native() + ": is a file, and a channel is a folder",
                is_package ? fmt::format("gpkg install {} installs a package file", folder.native())
                           : "",
                {}};
    }
    return {ErrorKind::NotFound,
            fmt::format(
                "{}: there is no such channel: it has no {}", channel.base_url(), join_or(asked)),
            fmt::format("gpkg index {} makes a channel of it", folder.native()),
            {}};
}

/// The rules about what a channel must have.
Result<void> judge_channel(std::span<FetchedIndex> of_channel) {
    const auto& channel = of_channel.front().channel;
    const auto has = [](const FetchedIndex& index) { return !index.missing; };
    if (std::any_of(of_channel.begin(), of_channel.end(), has)) {
        for (auto& index : of_channel) {
            if (index.missing && index.subdir == "noarch")
                index.warnings.push_back(
                    fmt::format("{}: the channel has no noarch/repodata.json", channel.base_url()));
        }
        return {};
    }
    std::vector<std::string> asked;
    for (const auto& index : of_channel) asked.push_back(index.subdir + "/repodata.json");
    if (channel.is_local()) return pass(no_local_channel(channel, asked));
    Error error{
        ErrorKind::NotFound,
        fmt::format(
            "{}: there is no such channel: it has no {}", channel.base_url(), join_or(asked)),
        "check the channel's name",
        {}};
    const bool is_word = channel.name().find('/') == std::string::npos;
    if (is_word && hint_at_folder(channel).empty())
        error.hint += fmt::format("; a folder is written ./{}", channel.name());
    return pass(with_folder_hint(std::move(error), channel));
}

}  // namespace

Result<std::vector<FetchedIndex>> fetch_indexes(Transport& transport,
                                                std::span<const Channel> channels,
                                                std::span<const std::string> subdirs,
                                                const IndexOptions& options) {
    const auto now = options.now ? options.now() : std::int64_t{std::time(nullptr)};
    std::vector<OneIndex> all;
    all.reserve(channels.size() * subdirs.size());
    for (const auto& channel : channels) {
        for (const auto& subdir : subdirs) all.emplace_back(channel, subdir, options, now);
    }

    std::vector<std::size_t> asking;
    std::vector<GetRequest> requests;
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto settled = all[i].settle_here();
        if (!settled)
            return pass(with_folder_hint(std::move(settled).error(), channels[i / subdirs.size()]));
        if (*settled) continue;
        asking.push_back(i);
        requests.push_back(all[i].request());
    }
    auto transfer = options.transfer;
    if (transfer.on_progress) {
        transfer.on_progress = [&](TransferProgress progress) {
            progress.item = asking[progress.item];
            options.transfer.on_progress(progress);
        };
    }
    auto responses = get_all(transport, requests, transfer);
    // All answers are kept before the first failure is told: the next try needs fewer.
    std::optional<Error> failure;
    for (std::size_t i = 0; i < asking.size(); ++i) {
        auto accepted = all[asking[i]].accept(std::move(responses[i]));
        if (!accepted && !failure)
            failure =
                with_folder_hint(std::move(accepted).error(), channels[asking[i] / subdirs.size()]);
    }
    if (failure) return pass(*std::move(failure));

    std::vector<FetchedIndex> indexes;
    indexes.reserve(all.size());
    for (auto& one : all) indexes.push_back(std::move(one).take());
    for (std::size_t i = 0; i < indexes.size(); i += subdirs.size())
        GPKG_CHECK(judge_channel(std::span(indexes).subspan(i, subdirs.size())));
    return indexes;
}

Result<void> forget_index(const fs::path& cache, const FetchedIndex& index) {
    return IndexCache(cache, index.channel.subdir_url(index.subdir)).forget();
}

}  // namespace gpkg
