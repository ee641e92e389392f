#include "libcore/indexing/publication.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/indexing/index_file.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace gpkg {
namespace {

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// The version of the newest root of the channel, whose keys have to sign; 0 where it has none.
Result<std::uint64_t> newest_root(const fs::path& channel, const IndexerOptions& options) {
    std::uint64_t version = 0;
    std::error_code code;
    while (fs::exists(channel / root_file(version + 1), code)) ++version;
    if (version == 0) return version;
    const auto file = channel / root_file(version);
    GPKG_TRY(const auto bytes, read_file(file, kLargestRoot));
    GPKG_TRY(const auto text, SignedText::parse(bytes, file.native()));
    GPKG_TRY(const auto root, ChannelRoot::parse(text.text(), file.native()));
    std::size_t count = 0;
    for (const auto& key : options.sign_keys) {
        if (!root.index.has(key->public_key()))
            return fail(ErrorKind::Usage,
                        fmt::format("{}: key {} is not one of the keys that may sign indexes",
                                    file.native(),
                                    key->public_key()),
                        "keys that may sign: " + join_some(root.index.keys, "and"));
        ++count;
    }
    if (count >= root.index.threshold) return version;
    return fail(ErrorKind::Usage,
                fmt::format("{}: {} signing keys are required, {} given",
                            file.native(),
                            root.index.threshold,
                            count),
                "use --sign-key FILE once per key");
}

}  // namespace

Result<Publication> Publication::begin(const fs::path& channel, const IndexerOptions& options) {
    Publication publication(channel, options);
    const auto file = channel / kStatementFile;
    const auto bytes = read_file(file, kLargestStatement);
    if (options.sign_keys.empty()) {
        if (!bytes && bytes.error().kind == ErrorKind::NotFound) return publication;
        return fail(
            ErrorKind::Usage,
            fmt::format("{}: the channel is signed, and its users would reject an unsigned index",
                        file.native()),
            fmt::format("add --sign-key FILE to this command; to stop signing: rm {}",
                        shell_word(file.native())));
    }
    auto& statement = publication.statement_;
    GPKG_TRY(statement.root, newest_root(channel, options));
    statement.made = now();
    statement.expires = statement.made + options.signed_for.count();
    // It rises with time as well: who loses the statement need not lose the users.
    statement.version = static_cast<std::uint64_t>(statement.made);
    const auto earlier =
        bytes ? SignedText::parse(*bytes, file.native()) : Result<SignedText>(pass(bytes.error()));
    const auto before = earlier ? IndexStatement::parse(earlier->text(), file.native())
                                : Result<IndexStatement>(pass(earlier.error()));
    if (before) publication.earlier_keys_ = earlier->keys();
    if (before) statement.version = std::max(statement.version, before->version + 1);
    return publication;
}

Result<void> Publication::add(const fs::path& file, std::string_view bytes) {
    Ready ready{file, {bytes.size(), {}}, std::nullopt};
    if (is_signed()) ready.content.sha256 = hex_digest(DigestKind::Sha256, bytes);
    if (!holds(file, bytes)) {
        GPKG_TRY(auto replacement, NewFile::make(file));
        GPKG_CHECK(replacement.write(bytes));
        ready.replacement.emplace(std::move(replacement));
    }
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(ready));
    return {};
}

Result<void> Publication::keep(const fs::path& file) {
    std::error_code code;
    Ready ready{file, {fs::file_size(file, code), {}}, std::nullopt};
    if (is_signed()) {
        GPKG_TRY(ready.content.sha256, sha256_of_file(file));
    }
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(ready));
    return {};
}

std::vector<fs::path> Publication::files() const {
    std::vector<fs::path> files;
    files.reserve(ready_.size());
    for (const auto& ready : ready_) files.push_back(ready.file);
    return files;
}

void Publication::state(const Ready& ready, SignedFile content) {
    // Of the channel's own files none is an index.
    if (ready.file.parent_path() == channel_) return;
    auto& files = statement_.subdirs[ready.file.parent_path().filename().native()];
    files[ready.file.filename().native()].push_back(std::move(content));
}

Result<void> Publication::sign_with_earlier() {
    statement_.subdirs.clear();
    bool is_new = false;
    for (const auto& ready : ready_) {
        state(ready, ready.content);
        if (!ready.replacement) continue;
        is_new = true;
        std::error_code code;
        const auto size = fs::file_size(ready.file, code);
        if (code) continue;
        GPKG_TRY(auto sha256, sha256_of_file(ready.file));
        state(ready, {size, std::move(sha256)});
    }
    if (!is_new) return {};
    GPKG_CHECK(write_statement());
    ++statement_.version;
    return {};
}

Result<void> Publication::write_statement() {
    SignedText text(statement_.to_text());
    for (const auto& key : options_.sign_keys) text.sign(*key);
    return write_file_atomically(channel_ / kStatementFile, text.to_json());
}

std::optional<SignatureSummary> Publication::signature() const {
    if (!is_signed()) return std::nullopt;
    SignatureSummary summary;
    summary.expires = statement_.expires;
    for (const auto& key : options_.sign_keys) summary.keys.push_back(key->public_key());
    const auto signs_on = [&](const std::string& key) {
        return std::find(summary.keys.begin(), summary.keys.end(), key) != summary.keys.end();
    };
    if (statement_.root == 0 && std::none_of(earlier_keys_.begin(), earlier_keys_.end(), signs_on))
        summary.replaced = earlier_keys_;
    return summary;
}

Result<void> Publication::publish() {
    if (is_signed()) GPKG_CHECK(sign_with_earlier());
    for (auto& ready : ready_) {
        if (ready.replacement) GPKG_CHECK(ready.replacement->finish(true));
    }
    if (!is_signed()) return {};
    statement_.subdirs.clear();
    for (const auto& ready : ready_) state(ready, ready.content);
    return write_statement();
}

}  // namespace gpkg
