#include "libcore/channel/trusted_channel.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/index_cache_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

namespace gpkg {

Result<void> SignedIndexes::check(std::string_view subdir,
                                  const std::string& url,
                                  std::string_view sha256) const {
    const auto* files = statement.files_of(subdir);
    if (files != nullptr && lists(*files, url.substr(url.rfind('/') + 1), sha256)) return {};
    return distrust(
        TrustFault::Tampered,
        fmt::format("{}: not the signed index: its sha256 is {}", url, sha256),
        "the file was changed on the way, or the channel's operator did not sign the new index");
}

std::unique_ptr<TrustedChannel> TrustedChannel::of(const Channel& channel,
                                                   const TrustOptions* options,
                                                   std::int64_t now) {
    if (options == nullptr) return nullptr;
    const auto root = options->roots.find(channel.base_url());
    if (root == options->roots.end()) return nullptr;
    return std::make_unique<TrustedChannel>(channel, root->second, *options, now);
}

TrustedChannel::TrustedChannel(Channel channel,
                               const ChannelRoot& pinned,
                               const TrustOptions& options,
                               std::int64_t now)
    : channel_(std::move(channel)),
      name_(channel_.base_url()),
      config_option_(options.config_option),
      pinned_(hex_digest(DigestKind::Sha256, pinned.to_text())),
      file_(options.folder / (cache_key(channel_.base_url()) + ".json")),
      now_(now),
      root_(pinned) {
    if (const auto name = options.names.find(name_); name != options.names.end())
        name_ = name->second;
    load();
}

/// Versions count whatever keys are trusted: they rise with time.
void TrustedChannel::load() {
    const auto text = read_file(file_);
    if (!text) return;
    simdjson::dom::parser parser;
    simdjson::dom::object seen;
    std::string_view word;
    if (parser.parse(*text).get(seen) != simdjson::SUCCESS) return;
    if (seen["version"].get(version_) != simdjson::SUCCESS) version_ = 0;
    if (seen["pinned"].get(word) != simdjson::SUCCESS || word != pinned_) return;
    if (seen["root"].get(word) != simdjson::SUCCESS) return;
    if (auto root = ChannelRoot::parse(word, file_.native())) root_ = *std::move(root);
}

void TrustedChannel::save() {
    nlohmann::ordered_json seen;
    seen["channel"] = channel_.base_url();
    seen["pinned"] = pinned_;
    seen["version"] = version_;
    if (root_.version > 0) seen["root"] = root_.to_text();
    const auto text = json_text(seen, 1) + "\n";
    if (read_file(file_) == text) return;
    if (auto saved = write_file_atomically(file_, text); !saved)
        warning_ = fmt::format("{}; rollbacks of {} to an older index cannot be detected",
                               saved.error().message,
                               channel_.base_url());
}

Result<std::string> TrustedChannel::get_file(const std::string& file,
                                             std::size_t most,
                                             Transport& transport,
                                             const TransferOptions& options) const {
    Result<std::string> bytes;
    if (channel_.is_local()) {
        bytes = read_file(channel_.folder() / file, most);
    } else {
        GetRequest request;
        request.url = channel_.with_credentials(url_of(file));
        request.most_bytes = most;
        auto response = get(transport, request, options);
        bytes = response ? Result<std::string>(std::move(response->body))
                         : pass(std::move(response).error());
    }
    if (bytes) return bytes;
    const auto kind = bytes.error().kind;
    if (kind != ErrorKind::Integrity && kind != ErrorKind::Usage) return bytes;
    return distrust(TrustFault::Malformed, std::move(bytes).error().message);
}

Result<IndexStatement> TrustedChannel::verify(const std::string& bytes,
                                              Transport& transport,
                                              const TransferOptions& options) {
    const auto url = url_of(std::string(kStatementFile));
    for (std::uint64_t steps = 0;; ++steps) {
        auto statement = read_statement(root_, bytes, url);
        const auto fault = statement ? std::nullopt : trust_fault(statement.error());
        const bool may_be_newer =
            statement ? statement->root > root_.version
                      : fault == TrustFault::WrongKey || fault == TrustFault::TooFew;
        if (!may_be_newer) return statement;
        const auto next = root_file(root_.version + 1);
        if (steps == kLongestChain)
            return distrust(TrustFault::Malformed,
                            fmt::format("{}: more than {} new roots in a row", url_of(next), steps),
                            "set trusted_keys to a newer root of the channel");
        auto root = get_file(next, kLargestRoot, transport, options);
        if (!root && root.error().kind == ErrorKind::NotFound) {
            if (!statement) return statement;
            return distrust(
                TrustFault::Missing,
                fmt::format("{}: not found, but {} is signed by this root", url_of(next), url));
        }
        if (!root) return pass(std::move(root).error());
        GPKG_TRY(root_, next_root(root_, *root, url_of(next)));
    }
}

Result<std::shared_ptr<const SignedIndexes>> TrustedChannel::fetch(Transport& transport,
                                                                   const TransferOptions& options) {
    const auto url = url_of(std::string(kStatementFile));
    auto bytes = get_file(std::string(kStatementFile), kLargestStatement, transport, options);
    if (!bytes && bytes.error().kind == ErrorKind::NotFound)
        return distrust(TrustFault::Missing,
                        fmt::format("{}: not found, so the channel is not signed", url),
                        fmt::format("ask the channel's operator why it is not signed any more; to "
                                    "use it without a signature: gpkg config remove-key {}{}",
                                    config_option_,
                                    shell_word("trusted_keys." + name_)));
    if (!bytes) return pass(std::move(bytes).error());
    auto verified = verify(*bytes, transport, options);
    if (!verified && trust_fault(verified.error()) == TrustFault::WrongKey)
        verified.error().hint = fmt::format(
            "if the channel has new keys, get them from its operator: gpkg config set "
            "{}{} KEY (or the file of a root)",
            config_option_,
            shell_word("trusted_keys." + name_));
    GPKG_TRY(auto statement, std::move(verified));
    GPKG_CHECK(root_.check_not_expired(now_, url));
    if (statement.version < version_)
        return distrust(
            TrustFault::RolledBack,
            fmt::format("{}: version {} is older than version {}, which was seen before",
                        url,
                        statement.version,
                        version_),
            fmt::format("if the channel's operator confirms the older version, remove {}",
                        file_.native()));
    GPKG_CHECK(statement.check_time(now_, url));
    version_ = statement.version;
    save();
    return std::make_shared<const SignedIndexes>(
        SignedIndexes{std::move(statement), *std::move(bytes)});
}

Result<void> TrustedChannel::check_kept(
    const CachedState& copy, const std::function<bool(const IndexStatement&)>& covers) const {
    if (copy.statement.empty()) {
        auto failure = distrust(
            TrustFault::Missing,
            fmt::format("{}: the cached copy was downloaded without verification", copy.url),
            "run the command once with a network, without --offline");
        failure.value().is_offline = true;
        return failure;
    }
    const auto url = url_of(std::string(kStatementFile));
    GPKG_TRY(const auto statement, read_statement(root_, copy.statement, url));
    GPKG_CHECK(root_.check_not_expired(now_, url));
    GPKG_CHECK(statement.check_time(now_, url));
    if (covers(statement)) return {};
    return distrust(TrustFault::Tampered,
                    fmt::format("{}: the cached copy does not match the signature", copy.url),
                    "run gpkg clean --index-cache, then the command again");
}

}  // namespace gpkg
