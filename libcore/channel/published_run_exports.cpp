#include "libcore/channel/published_run_exports.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/package_record.hpp"

#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostRunExports = std::size_t{1} << 30U;
constexpr std::string_view kRunExportsJson = "run_exports.json";
constexpr std::string_view kRunExportsZst = "run_exports.json.zst";

std::string url_of(const Channel& channel, const std::string& subdir, std::string_view file) {
    return fmt::format("{}/{}", channel.subdir_url(subdir), file);
}

/// The file that a signed statement lists of a subdir; empty: none.
std::string_view listed(const IndexStatement& statement, std::string_view subdir) {
    const auto* files = statement.files_of(subdir);
    for (const auto file : {kRunExportsZst, kRunExportsJson}) {
        if (files != nullptr && files->contains(file)) return file;
    }
    return {};
}

/// What is cached of one subdir.
class Kept {
public:
    Kept(const IndexOptions& options, const Channel& channel, const std::string& subdir)
        : cache_(options.cache, url_of(channel, subdir, kRunExportsJson)), subdir_(subdir) {
        if (auto state = cache_.load(); state && !channel.is_local()) state_ = *std::move(state);
    }

    /// Empty: nothing is known.
    const CachedState& state() const { return state_; }

    /// Whether it is what the statement says that the channel has.
    bool is_covered_by(const IndexStatement& statement) const {
        const auto* files = statement.files_of(subdir_);
        if (state_.missing) return listed(statement, subdir_).empty();
        const auto name = std::string_view(state_.url).substr(state_.url.rfind('/') + 1);
        return files != nullptr && lists(*files, name, state_.sha256);
    }

    /// Nothing where there is no copy, or none that is whole; empty where the channel has none.
    std::optional<std::string> read() const {
        if (state_.url.empty()) return std::nullopt;
        if (state_.missing) return std::string();
        auto body = read_file(cache_.path_of(state_), kMostRunExports);
        if (!body || hex_digest(DigestKind::Sha256, *body) != state_.sha256) return std::nullopt;
        return *std::move(body);
    }

    /// A cache that cannot be written costs time, not the answer.
    void save(const CachedState& state) const { (void)cache_.save(state); }

    void store(CachedState state, std::string_view body) const {
        const auto incoming = cache_.incoming();
        const auto extension =
            state.url.ends_with(kRunExportsZst) ? ".run_exports.zst" : ".run_exports";
        const auto sha256 = hex_digest(DigestKind::Sha256, body);
        if (state.missing || (write_file_atomically(incoming, body) &&
                              cache_.adopt(incoming, sha256, extension, state)))
            save(state);
    }

private:
    IndexCache cache_;
    const std::string& subdir_;
    CachedState state_;
};

}  // namespace

struct PublishedRunExports::Table {
    std::unique_ptr<const Json> root;  ///< null: the channel tells nothing
};

PublishedRunExports::PublishedRunExports(Transport& transport,
                                         IndexOptions options,
                                         TrustOptions trust)
    : transport_(transport), options_(std::move(options)), trust_(std::move(trust)) {}

PublishedRunExports::~PublishedRunExports() = default;

/// Empty where the channel has no such file.
Result<std::string> PublishedRunExports::fetch(const Channel& channel, const std::string& subdir) {
    const auto now = options_.now ? options_.now() : std::int64_t{std::time(nullptr)};
    const auto trusted = TrustedChannel::of(channel, &trust_, now);
    const bool may_fetch = !options_.transfer.offline ||
                           !needs_network(transport_.mirrors(), channel.subdir_url(subdir));
    if (may_fetch) {
        if (!trusted) return ask(channel, subdir);
        auto answer = ask_signed(*trusted, channel, subdir);
        if (answer || trust_fault(answer.error()) != TrustFault::Tampered) return answer;
        return ask_signed(*trusted, channel, subdir);  // as fetch_indexes does
    }
    const Kept kept(options_, channel, subdir);
    auto body = kept.read();
    if (!trusted) return std::move(body).value_or("");
    if (!body)
        return fail_offline(ErrorKind::NotFound,
                            fmt::format("--offline: {} is not in the cache",
                                        url_of(channel, subdir, kRunExportsJson)),
                            "run the command once with a network, without --offline");
    GPKG_CHECK(trusted->check_kept(
        kept.state(), [&](const auto& statement) { return kept.is_covered_by(statement); }));
    return *std::move(body);
}

Result<std::string> PublishedRunExports::ask(const Channel& channel, const std::string& subdir) {
    const Kept kept(options_, channel, subdir);
    auto known = kept.state().missing ? std::nullopt : kept.read();
    GetRequest request;
    request.url = channel.with_credentials(url_of(channel, subdir, kRunExportsZst));
    request.fallback_url = channel.with_credentials(url_of(channel, subdir, kRunExportsJson));
    request.most_bytes = kMostRunExports;
    if (known && kept.state().url.ends_with(kRunExportsZst)) {
        request.etag = kept.state().etag;
        request.last_modified = kept.state().last_modified;
    }
    auto got = get(transport_, request, options_.transfer);
    if (!got && got.error().kind == ErrorKind::NotFound) return std::string();
    if (!got) return pass(std::move(got).error());
    if (got->not_modified) return *std::move(known);
    CachedState state;
    state.url =
        url_of(channel, subdir, got->asked == request.url ? kRunExportsZst : kRunExportsJson);
    state.etag = got->etag;
    state.last_modified = got->last_modified;
    if (!channel.is_local()) kept.store(std::move(state), got->body);
    return std::move(got->body);
}

Result<std::string> PublishedRunExports::ask_signed(TrustedChannel& trusted,
                                                    const Channel& channel,
                                                    const std::string& subdir) {
    GPKG_TRY(const auto told, trusted.fetch(transport_, options_.transfer));
    const Kept kept(options_, channel, subdir);
    if (auto known = kept.is_covered_by(told->statement) ? kept.read() : std::nullopt) {
        auto state = kept.state();
        state.statement = told->bytes;
        kept.save(state);
        return *std::move(known);
    }
    const auto file = listed(told->statement, subdir);
    CachedState state;
    state.url = url_of(channel, subdir, file.empty() ? kRunExportsJson : file);
    state.statement = told->bytes;
    state.missing = file.empty();
    std::string body;
    if (!file.empty()) {
        GetRequest request;
        request.url = channel.with_credentials(state.url);
        request.most_bytes = kMostRunExports;
        auto got = get(transport_, request, options_.transfer);
        if (!got && got.error().kind == ErrorKind::NotFound)
            return distrust(TrustFault::Missing,
                            got.error().message + ", but the signed statement lists it");
        if (!got) return pass(std::move(got).error());
        GPKG_CHECK(told->check(subdir, state.url, got->sha256));
        body = std::move(got->body);
    }
    if (!channel.is_local()) kept.store(std::move(state), body);
    return body;
}

Result<std::shared_ptr<const PublishedRunExports::Table>> PublishedRunExports::table_of(
    const Channel& channel, const std::string& subdir) {
    const auto url = channel.subdir_url(subdir);
    if (const auto found = tables_.find(url); found != tables_.end()) return found->second;
    auto table = std::make_shared<Table>();
    GPKG_TRY(auto text, fetch(channel, subdir));
    if (text.starts_with(kZstdMagic)) {
        GPKG_TRY(text, zstd_decompress(text, url + "/run_exports.json.zst", kMostRunExports));
    }
    if (!text.empty()) {
        table->root = std::make_unique<const Json>(Json::parse(text, nullptr, false));
        if (!table->root->is_object())
            return fail(ErrorKind::Parse,
                        fmt::format("{}/run_exports.json: not a JSON object", url));
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
        return json_text(package->value("run_exports", Json::object()));
    }
    return std::nullopt;
}

}  // namespace gpkg
