#include "libcore/package/paths.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/json_internal.hpp"
#include "libcore/package/paths_internal.hpp"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <simdjson.h>
#include <unordered_set>

namespace gpkg {
namespace {

/// What packages of before has_prefix named the placeholder were built with.
constexpr std::string_view kOldPlaceholder = "/opt/anaconda1anaconda2anaconda3";

/// info/ stays in the package. What conda-meta/ says of the environment only package managers and
/// the user write: records, history, pins, the variables that it sets, and whatever gpkg keeps
/// there. There are file systems to which case does not matter.
bool is_reserved(std::string_view written) {
    if (written == "info" || written.starts_with("info/")) return true;
    const auto path = to_lower(written);
    if (path == "conda-meta") return true;
    if (!path.starts_with("conda-meta/")) return false;
    const auto rest = std::string_view(path).substr(path.find('/') + 1);
    return rest == "history" || rest == "state" || rest == "pinned" || rest == "gpkg" ||
           rest.starts_with("gpkg/") || rest.starts_with(".gpkg") || rest.ends_with(".json");
}

Result<PathType> path_type(const JsonObject& json) {
    GPKG_TRY(const auto text, json.text("path_type"));
    if (text.empty() || text == "hardlink") return PathType::HardLink;
    if (text == "softlink") return PathType::SoftLink;
    if (text == "directory") return PathType::Directory;
    return fail(ErrorKind::Parse,
                fmt::format("{}: '{}' must be hardlink, softlink or directory, found \"{}\"",
                            json.what(),
                            json.name_of("path_type"),
                            printable(text)));
}

Result<FileMode> file_mode(const JsonObject& json) {
    GPKG_TRY(const auto text, json.text("file_mode"));
    if (text.empty() || text == "text") return FileMode::Text;
    if (text == "binary") return FileMode::Binary;
    return fail(ErrorKind::Parse,
                fmt::format("{}: '{}' must be text or binary, found \"{}\"",
                            json.what(),
                            json.name_of("file_mode"),
                            printable(text)));
}

Result<void> check_placeholder(std::string_view placeholder, std::string_view what) {
    if (placeholder.find_first_of(std::string_view("\0\n", 2)) == std::string_view::npos &&
        placeholder.size() < 4096)
        return {};
    return fail(
        ErrorKind::Integrity,
        fmt::format("{}: prefix placeholder \"{}\" is not a path", what, printable(placeholder)));
}

Result<PathEntry> read_entry(const JsonObject& json) {
    PathEntry entry;
    GPKG_TRY(const auto path, json.text("_path"));
    GPKG_TRY(entry.path, checked_payload_path(path, json.what()));
    GPKG_TRY(entry.type, path_type(json));
    GPKG_TRY(entry.mode, file_mode(json));
    GPKG_TRY(entry.prefix_placeholder, json.text("prefix_placeholder"));
    GPKG_CHECK(check_placeholder(entry.prefix_placeholder, json.what()));
    GPKG_TRY(entry.no_link, json.boolean("no_link"));
    GPKG_TRY(const auto sha256, json.text("sha256"));
    if (!sha256.empty() && !is_hex(sha256, 64))
        return fail(ErrorKind::Parse,
                    fmt::format("{}: '{}' must be 64 hex digits, found \"{}\"",
                                json.what(),
                                json.name_of("sha256"),
                                printable(sha256)));
    entry.sha256 = to_lower(sha256);
    GPKG_TRY(entry.size_in_bytes, json.count("size_in_bytes"));
    return entry;
}

/// The lines of a text file of old packages, without empty ones.
std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (const auto line : split(text, '\n')) {
        if (const auto trimmed = trim(line); !trimmed.empty()) lines.push_back(trimmed);
    }
    return lines;
}

/// Cuts at blanks; quotes hold a value with blanks together.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    std::size_t i = 0;
    while ((i = line.find_first_not_of(" \t", i)) < line.size()) {
        std::string word;
        while (i < line.size() && line[i] != ' ' && line[i] != '\t') {
            const char c = line[i];
            const auto close = c == '"' || c == '\'' ? line.find(c, i + 1) : std::string_view::npos;
            if (close != std::string_view::npos) {
                word += line.substr(i + 1, close - i - 1);
                i = close + 1;
            } else {
                word += c;
                ++i;
            }
        }
        words.push_back(std::move(word));
    }
    return words;
}

struct Replacement {
    std::string placeholder;
    FileMode mode = FileMode::Text;
};

Result<std::map<std::string, Replacement>> read_has_prefix(const fs::path& folder) {
    std::map<std::string, Replacement> result;
    GPKG_TRY(const auto text, read_info_text(folder, "has_prefix"));
    if (!text) return result;
    const auto what = (folder / "info/has_prefix").native();
    for (const auto line : lines_of(*text)) {
        auto words = words_of(line);
        Replacement replacement{std::string(kOldPlaceholder), FileMode::Text};
        std::string path(line);
        if (words.size() == 3 && (words[1] == "text" || words[1] == "binary")) {
            replacement.placeholder = std::move(words[0]);
            replacement.mode = words[1] == "text" ? FileMode::Text : FileMode::Binary;
            path = std::move(words[2]);
        } else if (words.size() == 1) {
            path = std::move(words[0]);
        }
        GPKG_CHECK(check_placeholder(replacement.placeholder, what));
        result[clean_relative(path)] = std::move(replacement);
    }
    return result;
}

Result<std::vector<PathEntry>> read_old_paths(const fs::path& folder) {
    GPKG_TRY(const auto files, read_info_text(folder, "files"));
    if (!files)
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: not an unpacked package: neither info/paths.json nor info/files",
                        folder.native()));
    GPKG_TRY(const auto has_prefix, read_has_prefix(folder));
    GPKG_TRY(const auto no_link, read_info_text(folder, "no_link"));
    std::set<std::string> copied;
    for (const auto line : lines_of(no_link ? std::string_view(*no_link) : ""))
        copied.insert(clean_relative(line));

    const auto what = (folder / "info/files").native();
    const Descriptor root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    std::vector<PathEntry> entries;
    for (const auto line : lines_of(*files)) {
        PathEntry entry;
        GPKG_TRY(entry.path, checked_payload_path(line, what));
        struct stat status {};
        if (::fstatat(root.get(), entry.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (!is_absent(errno)) return pass(io_error(folder / entry.path, "access", errno));
        } else {
            if (S_ISLNK(status.st_mode)) entry.type = PathType::SoftLink;
            if (S_ISDIR(status.st_mode)) entry.type = PathType::Directory;
        }
        if (const auto found = has_prefix.find(entry.path); found != has_prefix.end()) {
            entry.prefix_placeholder = found->second.placeholder;
            entry.mode = found->second.mode;
        }
        entry.no_link = copied.contains(entry.path);
        entries.push_back(std::move(entry));
    }
    GPKG_CHECK(refuse_duplicates(entries, what));
    return entries;
}

}  // namespace

Result<std::string> checked_payload_path(std::string_view path, std::string_view what) {
    auto clean = clean_relative(path);
    if (!is_safe_relative(path) || clean.empty())
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: unsafe path \"{}\"", what, printable(path)));
    if (is_reserved(clean))
        return fail(
            ErrorKind::Integrity,
            fmt::format(
                "{}: path \"{}\" is reserved for package managers", what, printable(clean)));
    return clean;
}

Result<void> refuse_duplicates(const std::vector<PathEntry>& entries, std::string_view what) {
    std::unordered_set<std::string_view> seen;
    seen.reserve(entries.size());
    for (const auto& entry : entries) {
        if (!seen.insert(entry.path).second)
            return fail(
                ErrorKind::Integrity,
                fmt::format("{}: path \"{}\" is listed twice", what, printable(entry.path)));
    }
    return {};
}

Result<std::vector<PathEntry>> parse_paths_json(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, text, what));
    GPKG_TRY(const auto version, json.count("paths_version"));
    if (version > 1)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: paths_version {} is newer than 1", what, version),
                    "use a newer gpkg");
    std::vector<PathEntry> entries;
    const auto paths = json.find("paths");
    if (!paths) return fail(ErrorKind::Parse, fmt::format("{}: 'paths' is missing", what));
    simdjson::dom::array list;
    if (paths->get(list) != simdjson::SUCCESS) return json.wrong("paths", "a list", *paths);
    for (const simdjson::dom::element item : list) {
        auto place = fmt::format("paths[{}]", entries.size());
        simdjson::dom::object object;
        if (item.get(object) != simdjson::SUCCESS) return json.wrong(place, "an object", item);
        GPKG_TRY(auto entry, read_entry(JsonObject(object, what, std::move(place))));
        entries.push_back(std::move(entry));
    }
    GPKG_CHECK(refuse_duplicates(entries, what));
    return entries;
}

bool is_package_path(std::string_view path) { return is_safe_relative(path) && is_utf8(path); }

Result<std::vector<PathEntry>> read_paths(const fs::path& folder) {
    GPKG_TRY(const auto text, read_info_text(folder, "paths.json"));
    if (!text) return read_old_paths(folder);
    return parse_paths_json(*text, (folder / "info/paths.json").native());
}

std::string paths_json(std::vector<PathEntry> entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.path < b.path;
    });
    auto list = nlohmann::ordered_json::array();
    for (const auto& entry : entries) {
        nlohmann::ordered_json item;
        item["_path"] = entry.path;
        if (!entry.prefix_placeholder.empty()) {
            item["file_mode"] = entry.mode == FileMode::Binary ? "binary" : "text";
        }
        if (entry.no_link) item["no_link"] = true;
        item["path_type"] = entry.type == PathType::SoftLink    ? "softlink"
                            : entry.type == PathType::Directory ? "directory"
                                                                : "hardlink";
        if (!entry.prefix_placeholder.empty())
            item["prefix_placeholder"] = entry.prefix_placeholder;
        if (!entry.sha256.empty()) {
            item["sha256"] = entry.sha256;
            item["size_in_bytes"] = entry.size_in_bytes;
        }
        list.push_back(std::move(item));
    }
    nlohmann::ordered_json root;
    root["paths"] = std::move(list);
    root["paths_version"] = 1;
    return json_text(root, 2) + "\n";
}

}  // namespace gpkg
