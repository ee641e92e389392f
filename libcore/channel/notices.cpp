#include "libcore/channel/notices.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/net/outcome.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

namespace gpkg {
namespace {

constexpr std::size_t kMostNoticeBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostNotices = 100;
/// Of those that do not say when they expire.
constexpr std::int64_t kYear = std::int64_t{365} * 24 * 3600;

std::string url_of(const Channel& channel) { return channel.base_url() + "/notices.json"; }

/// "2022-04-21T11:50:34+00:00", with or without fractions of a second; 0 where it is no such time.
std::int64_t read_time(std::string_view text) {
    const std::string copy(text);
    std::tm parts{};
    const char* rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == nullptr) return 0;
    if (*rest == '.') {
        do ++rest;
        while (*rest >= '0' && *rest <= '9');
    }
    std::tm zone{};
    if (*rest != '\0' && ::strptime(rest, "%z", &zone) == nullptr) return 0;
    return std::int64_t{::timegm(&parts)} - zone.tm_gmtoff;
}

Notice read_notice(simdjson::dom::object object) {
    const auto text = [&](std::string_view key) {
        std::string_view value;
        return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
    };
    Notice notice;
    notice.message = text("message");
    notice.id = text("id");
    if (notice.id.empty()) notice.id = notice.message;
    notice.level = text("level");
    if (notice.level != "warning" && notice.level != "critical") notice.level = "info";
    notice.created_at = read_time(text("created_at"));
    // conda reads, and channels write, another name than the CEP has.
    notice.expires_at = read_time(text("expires_at"));
    if (notice.expires_at == 0) notice.expires_at = read_time(text("expired_at"));
    return notice;
}

void store(const IndexCache& cache,
           const Channel& channel,
           const fs::path& incoming,
           std::int64_t now,
           const Result<Response>& answer) {
    CachedState state;
    state.url = url_of(channel);
    state.checked_at = now;
    state.missing = !answer;
    if (answer && answer->not_modified) {
        if (auto kept = cache.load()) state = *std::move(kept);
        state.checked_at = now;
    } else if (answer) {
        state.etag = answer->etag;
        state.last_modified = answer->last_modified;
        if (!cache.adopt(incoming, answer->sha256, ".notices", state)) return;
    }
    (void)cache.save(state);
}

std::string seen_key(const Channel& channel, const Notice& notice) {
    return hex_digest(DigestKind::Sha256, channel.base_url() + "\n" + notice.id).substr(0, 32);
}

}  // namespace

Result<std::vector<Notice>> read_notices(std::string_view bytes, const std::string& what) {
    simdjson::dom::parser parser;
    simdjson::dom::object root;
    simdjson::dom::array list;
    const simdjson::padded_string padded(bytes);
    if (parser.parse(padded).get(root) != simdjson::SUCCESS ||
        root["notices"].get(list) != simdjson::SUCCESS)
        return fail(ErrorKind::Parse, fmt::format("{}: has no list of notices", what));
    std::vector<Notice> notices;
    for (const auto item : list) {
        simdjson::dom::object object;
        if (item.get(object) != simdjson::SUCCESS || notices.size() == kMostNotices) continue;
        if (auto notice = read_notice(object); !notice.message.empty())
            notices.push_back(std::move(notice));
    }
    return notices;
}

bool has_fresh_notices(const Channel& channel,
                       const fs::path& cache,
                       std::int64_t now,
                       std::int64_t hold) {
    if (channel.is_local()) return true;
    const auto state = IndexCache(cache, url_of(channel)).load();
    return state && now >= state->checked_at && now - state->checked_at < hold;
}

std::vector<Error> ask_for_notices(Transport& transport,
                                   std::span<const Channel> channels,
                                   const fs::path& folder,
                                   std::int64_t now,
                                   const TransferOptions& options) {
    std::vector<GetRequest> requests;
    requests.reserve(channels.size());
    for (const auto& channel : channels) {
        const IndexCache cache(folder, url_of(channel));
        GetRequest request;
        request.url = channel.with_credentials(url_of(channel));
        request.is_optional = true;
        request.into = cache.incoming();
        request.most_bytes = kMostNoticeBytes;
        const auto known = cache.load();
        std::error_code ignored;
        if (known && !known->missing && fs::exists(cache.path_of(*known), ignored)) {
            request.etag = known->etag;
            request.last_modified = known->last_modified;
        }
        requests.push_back(std::move(request));
    }
    const auto answers = get_all(transport, requests, options);
    std::vector<Error> errors;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const IndexCache cache(folder, url_of(channels[i]));
        if (answers[i] || says_absent(answers[i].error()))
            store(cache, channels[i], requests[i].into, now, answers[i]);
        else
            errors.push_back(answers[i].error());
    }
    return errors;
}

Result<std::vector<Notice>> kept_notices(const Channel& channel,
                                         const fs::path& folder,
                                         std::int64_t now) {
    const IndexCache cache(folder, url_of(channel));
    auto file = channel.is_local() ? channel.folder() / "notices.json" : fs::path();
    if (!channel.is_local()) {
        const auto state = cache.load();
        if (!state || state->missing) return std::vector<Notice>();
        file = cache.path_of(*state);
    }
    auto bytes = read_file(file, kMostNoticeBytes);
    if (!bytes && bytes.error().kind == ErrorKind::NotFound) return std::vector<Notice>();
    if (!bytes) return pass(std::move(bytes).error());
    GPKG_TRY(auto notices, read_notices(*bytes, url_of(channel)));
    std::erase_if(notices, [&](const Notice& notice) {
        return notice.expires_at != 0 && notice.expires_at <= now;
    });
    return notices;
}

SeenNotices::SeenNotices(const fs::path& cache, std::int64_t now)
    : file_(cache / "notices-seen.json"), now_(now) {
    const auto text = read_file(file_);
    const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    if (!json.is_object()) return;
    for (const auto& [key, until] : json.items()) {
        if (until.is_number_integer() && until.get<std::int64_t>() > now)
            until_[key] = until.get<std::int64_t>();
    }
}

bool SeenNotices::has(const Channel& channel, const Notice& notice) const {
    return until_.contains(seen_key(channel, notice));
}

void SeenNotices::add(const Channel& channel, const Notice& notice) {
    until_[seen_key(channel, notice)] = notice.expires_at != 0 ? notice.expires_at : now_ + kYear;
    is_changed_ = true;
}

Result<void> SeenNotices::save() const {
    if (!is_changed_) return {};
    return write_file_atomically(file_, json_text(nlohmann::json(until_)) + "\n");
}

}  // namespace gpkg
