#include "libcore/channel/mirror_manifest.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <system_error>

namespace gpkg {
namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr int kFormat = 1;

tl::unexpected<Error> malformed(const std::string& what, std::string_view why) {
    return fail(ErrorKind::Parse, fmt::format("{}: not a mirror manifest: {}", what, why));
}

}  // namespace

std::string MirrorManifest::to_text() const {
    auto listed = OrderedJson::object();
    for (const auto& [path, file] : files)
        listed[path] = {{"size", file.size}, {"sha256", file.sha256}};
    const OrderedJson document{
        {"format", kFormat}, {"channels", channels}, {"files", std::move(listed)}};
    return json_text(document, 1);
}

Result<MirrorManifest> MirrorManifest::parse(std::string_view text, const std::string& what) {
    const auto document = OrderedJson::parse(text, nullptr, false);
    if (!document.is_object()) return malformed(what, "not a JSON object");
    const auto format = document.find("format");
    if (format == document.end() || !format->is_number_integer())
        return malformed(what, "\"format\" is missing");
    if (*format != kFormat)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: unknown format {}", what, format->dump()),
                    "use a newer gpkg");
    const auto channels = document.find("channels");
    const auto files = document.find("files");
    if (channels == document.end() || !channels->is_object() || files == document.end() ||
        !files->is_object())
        return malformed(what, "\"channels\" or \"files\" is not an object");
    MirrorManifest manifest;
    for (const auto& [folder, url] : channels->items()) {
        if (!url.is_string()) return malformed(what, "a channel URL is not a string");
        // Packages are put there.
        if (!is_safe_relative(folder) || folder.front() == '.' ||
            folder.find('/') != std::string::npos)
            return malformed(
                what,
                fmt::format("\"{}\" is not a valid folder name for a channel", printable(folder)));
        manifest.channels[folder] = url.get<std::string>();
    }
    for (const auto& [path, entry] : files->items()) {
        // It is followed: nothing outside of the mirror may be meant.
        if (!is_safe_relative(path))
            return malformed(what,
                             fmt::format("\"{}\" leads outside of the mirror", printable(path)));
        if (!entry.is_object() || !entry.contains("size") || !entry["size"].is_number_unsigned() ||
            !entry.contains("sha256") || !entry["sha256"].is_string() ||
            !is_hex(entry["sha256"].get<std::string>(), 64))
            return malformed(what, fmt::format("{} has no size or no SHA-256", printable(path)));
        manifest.files[path] = {entry["size"].get<std::uint64_t>(),
                                entry["sha256"].get<std::string>()};
    }
    return manifest;
}

Result<std::vector<std::string>> paths_in_mirror(const fs::path& folder) {
    std::vector<std::string> paths;
    std::error_code code;
    fs::recursive_directory_iterator item(folder, code);
    for (; !code && item != fs::recursive_directory_iterator(); item.increment(code)) {
        std::error_code ignored;
        const auto status = item->symlink_status(ignored);
        if (item->path().filename().native().starts_with('.')) {
            item.disable_recursion_pending();
            continue;
        }
        auto relative = item->path().lexically_relative(folder).native();
        if (fs::is_directory(status) || relative == kMirrorManifest) continue;
        if (!fs::is_regular_file(status))
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: not a file or folder", item->path().native()));
        paths.push_back(std::move(relative));
    }
    if (code)
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot read: {}", folder.native(), code.message()));
    return paths;
}

Result<std::map<std::string, MirrorFile>> files_of_mirror(const fs::path& folder,
                                                          const std::function<bool()>& cancelled) {
    GPKG_TRY(const auto paths, paths_in_mirror(folder));
    return files_of_mirror(folder, paths, cancelled);
}

Result<std::map<std::string, MirrorFile>> files_of_mirror(const fs::path& folder,
                                                          std::span<const std::string> paths,
                                                          const std::function<bool()>& cancelled) {
    std::map<std::string, MirrorFile> files;
    for (const auto& path : paths) {
        if (cancelled && cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        std::error_code code;
        MirrorFile file;
        file.size = fs::file_size(folder / path, code);
        if (code) return pass(io_error(folder / path, "read", code.value()));
        GPKG_TRY(file.sha256, sha256_of_file(folder / path));
        files.emplace(path, std::move(file));
    }
    return files;
}

MirrorFaults compare(const MirrorManifest& manifest,
                     const std::map<std::string, MirrorFile>& found) {
    MirrorFaults faults;
    for (const auto& [path, file] : manifest.files) {
        const auto there = found.find(path);
        if (there == found.end()) {
            faults.missing.push_back(path);
        } else if (there->second != file) {
            faults.changed.push_back(path);
        }
    }
    for (const auto& [path, file] : found) {
        if (!manifest.files.contains(path)) faults.unknown.push_back(path);
    }
    return faults;
}

}  // namespace gpkg
