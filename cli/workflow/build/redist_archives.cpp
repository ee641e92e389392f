#include "cli/workflow/build/redist_archives.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/net/download.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"

#include <fmt/format.h>

namespace gpkg::cli {
namespace {

using Texts = std::vector<std::string>;

Result<std::string> text_at(Context& context, const std::string& url) {
    GPKG_TRY(const auto transport, open_transport(context));
    TransferOptions how;
    how.stop = context.stop;
    GetRequest request;
    request.url = url;
    request.most_bytes = kLongestWritten;
    GPKG_TRY(auto response, get(*transport, request, how));
    return std::move(response.body);
}

/// The path of what is no URL of a server; none for one.
Result<std::optional<fs::path>> local_path(const std::string& where, const fs::path& home) {
    if (!has_scheme(where)) return absolute_path(where, home);
    if (!where.starts_with("file:")) return std::nullopt;
    GPKG_TRY(auto path, path_of_file_url(where));
    return path;
}

}  // namespace

Result<RedistArchives> RedistArchives::open(Context& context,
                                            const std::string& manifest,
                                            const std::string& mirror,
                                            const std::string& source_cache) {
    RedistArchives archives(context);
    GPKG_CHECK(archives.read(manifest));
    if (!source_cache.empty()) archives.cache_ = absolute_path(source_cache, context.home);
    if (mirror.empty()) return archives;
    GPKG_TRY(const auto folder, local_path(mirror, context.home));
    if (!folder) {
        archives.mirror_url_ = mirror.ends_with('/') ? mirror : mirror + "/";
        return archives;
    }
    std::error_code ignored;
    if (!fs::is_directory(*folder, ignored))
        return fail_missing(ErrorKind::NotFound,
                            fmt::format("--mirror {}: not a folder", folder->native()),
                            folder->native());
    archives.mirror_ = *folder;
    return archives;
}

Result<void> RedistArchives::read(std::string where) {
    std::string text;
    GPKG_TRY(const auto path, local_path(where, context_->home));
    if (path) {
        GPKG_TRY(text, read_file(*path, kLongestWritten));
        where = path->native();
        beside_ = path->parent_path();
    } else {
        GPKG_TRY(text, text_at(*context_, where));
        where = without_secrets(where);
    }
    GPKG_TRY(manifest_, parse_redist_manifest(text, where));
    base_ = path ? manifest_.default_base() : where.substr(0, where.rfind('/') + 1);
    return {};
}

Result<std::optional<fs::path>> RedistArchives::at_hand(const RedistArchive& archive) const {
    std::error_code ignored;
    if (!mirror_.empty()) {
        auto path = mirror_ / archive.path;
        if (fs::is_regular_file(path, ignored)) return path;
        return fail(ErrorKind::NotFound, fmt::format("{}: not found in the mirror", path.native()));
    }
    if (!beside_.empty() && fs::is_regular_file(beside_ / archive.path, ignored))
        return beside_ / archive.path;
    if (!cache_.empty()) {
        auto path = cache_ / archive.sha256;
        if (fs::is_regular_file(path, ignored)) return path;
    }
    return std::nullopt;
}

Result<void> RedistArchives::fetch(const std::vector<RedistArchive>& archives) const {
    if (cache_.empty()) return fail(ErrorKind::Usage, "--fetch needs --source-cache FOLDER");
    std::vector<Download> downloads;
    for (const auto& archive : archives) {
        GPKG_TRY(const auto file, at_hand(archive));
        if (file) continue;
        Download download;
        download.url = urls_of(archive, {}).front();
        download.destination = cache_ / archive.sha256;
        download.sha256 = archive.sha256;
        download.size = archive.size.value_or(0);
        downloads.push_back(std::move(download));
    }
    if (downloads.empty()) return {};
    GPKG_TRY(const auto transport, open_transport(*context_));
    DownloadOptions how;
    how.stop = context_->stop;
    return download_all(*transport, downloads, how);
}

Texts RedistArchives::urls_of(const RedistArchive& archive,
                              const std::optional<fs::path>& file) const {
    Texts urls;
    // As the builder reads them: file:// and the path as it is.
    const bool from_cache = file && file->filename() == archive.sha256;
    if (file && !from_cache) urls.push_back("file://" + file->native());
    if (!mirror_url_.empty()) urls.push_back(mirror_url_ + archive.path);
    urls.push_back(base_ + archive.path);
    return urls;
}

Result<void> verify_redist_archive(const fs::path& file, const RedistArchive& archive) {
    std::error_code code;
    const auto size = fs::file_size(file, code);
    if (code) return pass(io_error(file, "read", code.value()));
    if (archive.size && size != *archive.size)
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: {} bytes, but {} in the manifest", file.native(), size, *archive.size),
            "download it again");
    GPKG_TRY(const auto sum, sha256_of_file(file));
    if (sum == archive.sha256) return {};
    return fail(
        ErrorKind::Integrity,
        fmt::format("{}: sha256 is {}, but {} in the manifest", file.native(), sum, archive.sha256),
        "download it again");
}

}  // namespace gpkg::cli
