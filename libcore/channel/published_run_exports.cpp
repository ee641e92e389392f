#include "libcore/channel/published_run_exports.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/spec/package_record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

/// What is kept of a file: as it came, and what it can be asked for again with.
struct Kept {
    fs::path body;
    fs::path state;
};

Kept kept_at(const fs::path& cache, const std::string& url) {
    const auto name = hex_digest(DigestKind::Sha256, url).substr(0, 16);
    return {cache / "run_exports" / name, cache / "run_exports" / (name + ".state")};
}

}  // namespace

struct PublishedRunExports::Table {
    std::unique_ptr<const Json> root;  ///< null: the channel tells nothing
};

PublishedRunExports::PublishedRunExports(Transport& transport,
                                         fs::path cache,
                                         bool offline,
                                         std::stop_token stop)
    : transport_(transport), cache_(std::move(cache)), offline_(offline), stop_(std::move(stop)) {}

PublishedRunExports::~PublishedRunExports() = default;

/// Empty where the channel has no such file.
Result<std::string> PublishedRunExports::fetch(const Channel& channel, const std::string& subdir) {
    const auto url = channel.subdir_url(subdir) + "/run_exports.json";
    const auto kept = kept_at(cache_, url);
    const auto read_kept = [&]() -> Result<std::string> {
        auto body = read_file(kept.body);
        if (!body && body.error().kind == ErrorKind::NotFound) return std::string();
        return body;
    };
    if (offline_ && !channel.is_local()) return read_kept();

    GetRequest request;
    request.url = channel.with_credentials(url + ".zst");
    request.fallback_url = channel.with_credentials(url);
    request.most_bytes = kMostBytes;
    std::error_code code;
    const auto state = read_file(kept.state);
    const auto known = state ? Json::parse(*state, nullptr, false) : Json();
    if (known.is_object() && fs::exists(kept.body, code)) {
        request.etag = known.value("etag", "");
        request.last_modified = known.value("last_modified", "");
    }
    TransferOptions how;
    how.stop = stop_;
    auto got = get(transport_, request, how);
    if (!got && got.error().kind == ErrorKind::NotFound) return std::string();
    if (!got) return pass(std::move(got).error());
    if (got->not_modified) return read_kept();
    if (!channel.is_local()) {
        // What cannot be kept is fetched again.
        (void)write_file_atomically(kept.body, got->body);
        const Json now{{"etag", got->etag}, {"last_modified", got->last_modified}};
        const bool is_zst = got->asked == request.url;
        (void)write_file_atomically(kept.state, is_zst ? now.dump() : "{}");
    }
    return std::move(got->body);
}

Result<std::shared_ptr<const PublishedRunExports::Table>> PublishedRunExports::table_of(
    const Channel& channel, const std::string& subdir) {
    const auto url = channel.subdir_url(subdir);
    if (const auto found = tables_.find(url); found != tables_.end()) return found->second;
    auto table = std::make_shared<Table>();
    GPKG_TRY(auto text, fetch(channel, subdir));
    if (text.starts_with(kZstdMagic)) {
        GPKG_TRY(text, zstd_decompress(text, url + "/run_exports.json.zst", kMostBytes));
    }
    if (!text.empty()) {
        table->root = std::make_unique<const Json>(Json::parse(text, nullptr, false));
        if (!table->root->is_object())
            return fail(ErrorKind::Parse,
                        fmt::format("{}/run_exports.json: is no JSON object", url));
    }
    tables_.emplace(url, table);
    return table;
}

Result<std::optional<std::string>> PublishedRunExports::of(const Channel& channel,
                                                           const PackageRecord& record) {
    GPKG_TRY(const auto table, table_of(channel, record.subdir));
    if (!table->root) return std::nullopt;
    for (const auto* kind : {"packages.conda", "packages"}) {
        const auto packages = table->root->find(kind);
        if (packages == table->root->end() || !packages->is_object()) continue;
        const auto package = packages->find(record.fn);
        if (package == packages->end() || !package->is_object()) continue;
        return package->value("run_exports", Json::object()).dump();
    }
    return std::nullopt;
}

}  // namespace gpkg
