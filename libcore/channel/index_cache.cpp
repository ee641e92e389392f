#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/fs/temporary.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <simdjson.h>
#include <sys/stat.h>
#include <vector>

namespace gpkg {
namespace {

constexpr int kStateVersion = 1;

std::optional<CachedState> parse_state(const std::string& text) {
    simdjson::dom::parser parser;
    simdjson::dom::object root;
    if (parser.parse(text).get(root) != simdjson::SUCCESS) return std::nullopt;
    const auto number = [&](const char* key) -> std::optional<std::int64_t> {
        std::int64_t value = 0;
        if (root[key].get(value) != simdjson::SUCCESS) return std::nullopt;
        return value;
    };
    const auto word = [&](const char* key) {
        std::string_view value;
        return root[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
    };
    if (number("version") != kStateVersion) return std::nullopt;

    CachedState state;
    state.url = word("url");
    state.file = word("file");
    state.size = static_cast<std::uint64_t>(number("size").value_or(0));
    state.sha256 = word("sha256");
    state.etag = word("etag");
    state.last_modified = word("last_modified");
    state.max_age = number("max_age");
    state.checked_at = number("checked_at").value_or(0);
    state.zst_absent_at = number("zst_absent_at").value_or(0);
    state.shards_absent_at = number("shards_absent_at").value_or(0);
    state.relations = {word("base"), word("overrides")};
    state.statement = word("statement");
    bool missing = false;
    if (root["missing"].get(missing) == simdjson::SUCCESS) state.missing = missing;

    const bool sound = state.missing || (is_hex(state.sha256, 64) && !state.file.empty() &&
                                         state.file.find('/') == std::string::npos);
    return sound ? std::optional(state) : std::nullopt;
}

}  // namespace

IndexOrigin origin_of(std::string_view sha256) {
    std::array<char, sizeof(IndexOrigin)> raw{};
    IndexOrigin origin{};
    if (from_hex(sha256, raw)) std::copy(raw.begin(), raw.end(), origin.begin());
    return origin;
}

std::string cache_key(std::string_view url) {
    return hex_digest(DigestKind::Sha256, url).substr(0, 16);
}

IndexCache::IndexCache(fs::path folder, std::string_view url)
    : folder_(std::move(folder)), key_(cache_key(url)) {}

std::optional<CachedState> IndexCache::load() const {
    const auto text = read_file(folder_ / (key_ + ".state.json"));
    return text ? parse_state(*text) : std::nullopt;
}

Result<void> IndexCache::save(const CachedState& state) const {
    nlohmann::ordered_json json;
    json["version"] = kStateVersion;
    json["url"] = state.url;
    json["file"] = state.file;
    json["size"] = state.size;
    json["sha256"] = state.sha256;
    json["etag"] = state.etag;
    json["last_modified"] = state.last_modified;
    if (state.max_age) json["max_age"] = *state.max_age;
    json["checked_at"] = state.checked_at;
    json["missing"] = state.missing;
    json["zst_absent_at"] = state.zst_absent_at;
    json["shards_absent_at"] = state.shards_absent_at;
    json["base"] = state.relations.base;
    json["overrides"] = state.relations.overrides;
    if (!state.statement.empty()) json["statement"] = state.statement;
    // Header values are bytes of a stranger: what is not UTF-8 is replaced, never thrown about.
    const auto text = json_text(json, 2);
    return write_file_atomically(folder_ / (key_ + ".state.json"), text + "\n");
}

Result<void> IndexCache::forget() const { return remove_tree(folder_ / (key_ + ".state.json")); }

fs::path IndexCache::incoming() const {
    return folder_ / fmt::format("{}.incoming-{}", key_, random_suffix());
}

Result<void> IndexCache::adopt(const fs::path& incoming,
                               const std::string& sha256,
                               std::string_view extension,
                               CachedState& state) const {
    state.file = fmt::format("{}{}", generation(sha256), extension);
    state.sha256 = sha256;
    GPKG_CHECK(rename_path(incoming, path_of(state)));
    struct stat status {};
    if (::stat(path_of(state).c_str(), &status) == 0)
        state.size = static_cast<std::uint64_t>(status.st_size);
    prune(sha256);
    return {};
}

IndexCache::Bytes IndexCache::check(const CachedState& state, const IndexSource& source) const {
    using Condition = Bytes::Condition;
    struct stat status {};
    if (::stat(path_of(state).c_str(), &status) != 0) return {};
    if (static_cast<std::uint64_t>(status.st_size) != state.size) return {Condition::Damaged, {}};
    if (auto made = ChannelIndex::open(index_file(state.sha256), source, origin_of(state.sha256)))
        return {Condition::Whole, std::make_shared<const ChannelIndex>(*std::move(made))};
    const auto sha256 = sha256_of_file(path_of(state));
    const bool is_whole = sha256 && *sha256 == state.sha256;
    return {is_whole ? Condition::Whole : Condition::Damaged, {}};
}

/// What the names of all files begin with that belong to the bytes with this checksum.
std::string IndexCache::generation(std::string_view sha256) const {
    return fmt::format("{}-{}", key_, sha256.substr(0, 16));
}

fs::path IndexCache::index_file(std::string_view sha256) const {
    return folder_ / (generation(sha256) + ".index");
}

void IndexCache::prune(std::string_view sha256) const {
    const auto current = generation(sha256);
    const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
    std::map<std::string, std::pair<fs::file_time_type, std::vector<fs::path>>> old;
    std::error_code code;
    for (fs::directory_iterator entries(folder_, code), end; !code && entries != end;
         entries.increment(code)) {
        const auto name = entries->path().filename().native();
        if (!name.starts_with(key_)) continue;
        std::error_code gone;
        const auto time = entries->last_write_time(gone);
        if (gone) continue;
        const bool is_unfinished =
            name.starts_with(key_ + ".incoming-") || name.find(".index.") != std::string::npos;
        const auto of = name.substr(0, name.find('.'));
        if (is_unfinished) {
            if (time < yesterday) fs::remove(entries->path(), gone);
        } else if (of.size() == current.size() && of != current) {
            auto& [youngest, files] = old[of];
            youngest = std::max(youngest, time);
            files.push_back(entries->path());
        }
    }
    const auto youngest = std::max_element(
        old.begin(), old.end(), [](auto& a, auto& b) { return a.second.first < b.second.first; });
    for (auto it = old.begin(); it != old.end(); ++it) {
        if (it == youngest) continue;
        for (const auto& file : it->second.second) fs::remove(file, code);
    }
}

}  // namespace gpkg
