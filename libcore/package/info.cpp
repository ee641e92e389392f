#include "libcore/package/info.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/json_internal.hpp"
#include "libcore/package/unpack.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// CEP 34 wants milliseconds; older packages have seconds.
std::int64_t milliseconds(std::uint64_t timestamp) {
    constexpr std::uint64_t kLastSecond = 253402300799;  // 9999-12-31
    constexpr std::uint64_t kLastMillisecond = kLastSecond * 1000 + 999;
    if (timestamp <= kLastSecond) timestamp *= 1000;
    return static_cast<std::int64_t>(std::min(timestamp, kLastMillisecond));
}

/// "a, b c" -> a, b, c; a list is taken as it is.
Result<std::vector<std::string>> read_track_features(const JsonObject& json) {
    GPKG_TRY(const auto items, json.texts("track_features"));
    std::vector<std::string> result;
    for (const auto& item : items) {
        std::size_t start = 0;
        while ((start = item.find_first_not_of(", \t\n", start)) != std::string::npos) {
            const auto end = std::min(item.find_first_of(", \t\n", start), item.size());
            result.push_back(item.substr(start, end - start));
            start = end;
        }
    }
    return result;
}

/// "python", "generic" or nothing. Before there was noarch: python, `true` meant generic.
Result<std::string> read_noarch_value(const JsonObject& json, std::string_view key) {
    const auto value = json.find(key);
    bool flag = false;
    if (!value) return std::string();
    if (value->get(flag) == simdjson::SUCCESS) return std::string(flag ? "generic" : "");
    GPKG_TRY(auto text, json.text(key));
    if (text.empty() || text == "generic" || text == "python") return text;
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: '{}' must be generic or python, found \"{}\"",
                            json.what(),
                            json.name_of(key),
                            printable(text)));
}

Result<std::map<std::string, std::vector<std::string>>> read_groups(const JsonObject& json,
                                                                    std::string_view key) {
    std::map<std::string, std::vector<std::string>> groups;
    const auto value = json.find(key);
    if (!value) return groups;
    simdjson::dom::object object;
    if (value->get(object) != simdjson::SUCCESS) return json.wrong(key, "an object", *value);
    const JsonObject inner(object, json.what(), json.name_of(key));
    for (const auto& [group, list] : object) {
        GPKG_TRY(groups[std::string(group)], inner.texts_of(list, group));
    }
    return groups;
}

Result<PackageRecord> read_record(const JsonObject& json) {
    PackageRecord record;
    GPKG_TRY(record.name, json.text("name"));
    GPKG_TRY(record.version, json.text("version"));
    GPKG_TRY(record.build, json.text("build"));
    GPKG_CHECK(check_distribution(record, json.what()));
    GPKG_TRY(record.build_number, json.count("build_number"));
    GPKG_TRY(record.subdir, json.text("subdir"));
    GPKG_TRY(const auto timestamp, json.count("timestamp"));
    record.timestamp = milliseconds(timestamp);
    GPKG_TRY(record.depends, json.texts("depends"));
    GPKG_TRY(record.constrains, json.texts("constrains"));
    GPKG_TRY(record.extra_depends, read_groups(json, "extra_depends"));
    GPKG_TRY(record.flags, json.texts("flags"));
    GPKG_TRY(record.track_features, read_track_features(json));
    GPKG_TRY(record.noarch, read_noarch_value(json, "noarch"));
    if (json.find("python_site_packages_path")) {
        GPKG_TRY(record.python_site_packages_path, json.text("python_site_packages_path"));
    }
    GPKG_TRY(record.license, json.text("license"));
    GPKG_TRY(record.license_family, json.text("license_family"));
    return record;
}

Result<std::string> read_checksum(const JsonObject& json,
                                  std::string_view key,
                                  std::size_t digits) {
    GPKG_TRY(const auto text, json.text(key));
    if (!text.empty() && !is_hex(text, digits))
        return fail(ErrorKind::Parse,
                    fmt::format("{}: '{}' must be {} hex digits, found \"{}\"",
                                json.what(),
                                json.name_of(key),
                                digits,
                                printable(text)));
    return to_lower(text);
}

/// Reads info/NAME with `parse`; an absent file gives an empty value.
template <typename T>
Result<T> read_optional(const fs::path& folder,
                        std::string_view name,
                        Result<T> (*parse)(std::string_view, std::string_view)) {
    GPKG_TRY(const auto text, read_info_text(folder, name));
    if (!text) return T{};
    return parse(*text, (folder / "info" / name).native());
}

}  // namespace

Result<std::optional<std::string>> read_info_text(const fs::path& folder, std::string_view name) {
    const auto relative = fmt::format("info/{}", name);
    const auto path = (folder / relative).native();
    const Descriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return pass(io_error(folder.native(), "open", errno));
    const auto file = open_below(root.get(), relative, O_RDONLY);
    if (!file) {
        if (errno == ENOENT) return std::optional<std::string>();
        if (errno == ELOOP || errno == ENOTDIR)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: reached through a link, not a file of the package", path));
        return pass(io_error(path, "open", errno));
    }
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 &&
        static_cast<std::uint64_t>(status.st_size) > kMaxInfoText)
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: larger than {} bytes", path, kMaxInfoText));
    GPKG_TRY(auto text, read_descriptor(file.get(), path));
    return std::optional(std::move(text));
}

Result<void> check_distribution(const PackageRecord& record, std::string_view what) {
    const auto check = [&](std::string_view key, std::string_view text) -> Result<void> {
        if (text.empty())
            return fail(ErrorKind::Parse, fmt::format("{}: '{}' is missing", what, key));
        const auto fits = [](unsigned char c) {
            return c > ' ' && c < 0x7F && c != '/' && c != '\\';
        };
        if (!std::all_of(text.begin(), text.end(), fits) || text.front() == '.' ||
            text.front() == '-' || text.size() > 128)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: '{}' cannot be part of a file name: \"{}\"",
                                    what,
                                    key,
                                    printable(text.substr(0, 128))));
        return {};
    };
    GPKG_CHECK(check("name", record.name));
    GPKG_CHECK(check("version", record.version));
    GPKG_CHECK(check("build", record.build));
    constexpr std::size_t kLongest = 211;  // CEP 26; leaves room for what the store appends
    if (record.distribution().size() > kLongest)
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: name, version and build exceed {} characters", what, kLongest));
    return {};
}

Result<EntryPoint> EntryPoint::parse(std::string_view text) {
    const auto broken = [&] {
        return fail(ErrorKind::Parse,
                    fmt::format("entry point \"{}\": expected \"command = module:function\"",
                                printable(text)));
    };
    const auto equals = text.find('=');
    const auto colon = text.find(':', equals == std::string_view::npos ? 0 : equals);
    if (equals == std::string_view::npos || colon == std::string_view::npos) return broken();
    EntryPoint point;
    point.command = trim(text.substr(0, equals));
    point.module = trim(text.substr(equals + 1, colon - equals - 1));
    point.function = trim(text.substr(colon + 1));

    // The names become a file in bin/ and lines of Python: nothing but names may pass.
    const auto dotted = [](std::string_view name) {
        for (const auto part : split(name, '.')) {
            const auto letter = [](unsigned char c) {
                return std::isalnum(c) != 0 || c == '_' || c >= 0x80;
            };
            if (part.empty() || std::isdigit(static_cast<unsigned char>(part.front())) != 0 ||
                !std::all_of(part.begin(), part.end(), letter))
                return false;
        }
        return true;
    };
    const auto plain = [](unsigned char c) {
        return c >= ' ' && c != 0x7F && c != '/' && c != '\\';
    };
    if (point.command.empty() || point.command.front() == '.' ||
        !std::all_of(point.command.begin(), point.command.end(), plain) || !dotted(point.module) ||
        !dotted(point.function))
        return broken();
    return point;
}

Result<PackageRecord> parse_index_json(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, text, what));
    return read_record(json);
}

Result<PackageRecord> read_index_json(const fs::path& folder) {
    GPKG_TRY(const auto text, read_info_text(folder, "index.json"));
    const auto path = folder / "info/index.json";
    if (!text) return fail(ErrorKind::NotFound, path.native() + ": not found");
    return parse_index_json(*text, path.native());
}

Result<RunExports> parse_run_exports(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto root, parse_json(parser, text, what));
    RunExports exports;
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS) {  // a list is all weak
        if (!root.is_array())
            return fail(
                ErrorKind::Parse,
                fmt::format("{}: must be an object or a list, found {}", what, json_kind(root)));
        GPKG_TRY(exports.weak, JsonObject(object, what, {}).texts_of(root, "weak"));
        return exports;
    }
    const JsonObject json(object, what, {});
    GPKG_TRY(exports.weak, json.texts("weak"));
    GPKG_TRY(exports.strong, json.texts("strong"));
    GPKG_TRY(exports.weak_constrains, json.texts("weak_constrains"));
    GPKG_TRY(exports.strong_constrains, json.texts("strong_constrains"));
    GPKG_TRY(exports.noarch, json.texts("noarch"));
    return exports;
}

Result<LinkInfo> parse_link_json(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, text, what));
    LinkInfo link;
    const auto noarch = json.find("noarch");
    if (!noarch) return link;
    simdjson::dom::object object;
    if (noarch->get(object) != simdjson::SUCCESS) return json.wrong("noarch", "an object", *noarch);
    const JsonObject inner(object, what, "noarch");
    GPKG_TRY(link.noarch, read_noarch_value(inner, "type"));
    GPKG_TRY(const auto lines, inner.texts("entry_points"));
    for (const auto& line : lines) {
        auto point = EntryPoint::parse(line);
        if (!point)
            return pass(std::move(point).error().while_doing("reading " + std::string(what)));
        link.entry_points.push_back(*std::move(point));
    }
    return link;
}

Result<About> parse_about_json(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, text, what));
    About about;
    GPKG_TRY(about.summary, json.text("summary"));
    GPKG_TRY(about.description, json.text("description"));
    GPKG_TRY(about.license, json.text("license"));
    GPKG_TRY(about.license_family, json.text("license_family"));
    GPKG_TRY(about.home, json.texts("home"));
    std::erase(about.home, "");
    GPKG_TRY(about.doc_url, json.texts("doc_url"));
    GPKG_TRY(about.dev_url, json.texts("dev_url"));
    GPKG_TRY(about.channels, json.texts("channels"));
    simdjson::dom::object extra;
    if (const auto found = json.find("extra"); found && found->get(extra) == simdjson::SUCCESS) {
        GPKG_TRY(about.maintainers, JsonObject(extra, what, "extra").texts("recipe-maintainers"));
    }
    GPKG_TRY(const auto conda_build, json.text("conda_build_version"));
    if (!conda_build.empty()) about.builder = "conda-build " + conda_build;
    return about;
}

Result<std::map<std::string, std::string>> parse_hash_input(std::string_view text,
                                                            std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, text, what));
    std::map<std::string, std::string> values;
    for (const auto& [key, value] : json.raw()) {
        if (value.is_object() || value.is_array())
            return json.wrong(key, "a string, a number, true or false", value);
        std::string_view plain;
        values[std::string(key)] = value.get(plain) == simdjson::SUCCESS
                                       ? std::string(plain)
                                       : std::string(simdjson::minify(value));
    }
    return values;
}

Result<RunExports> read_run_exports(const fs::path& folder) {
    return read_optional(folder, "run_exports.json", parse_run_exports);
}
Result<LinkInfo> read_link_json(const fs::path& folder) {
    return read_optional(folder, "link.json", parse_link_json);
}
Result<About> read_about_json(const fs::path& folder) {
    GPKG_TRY(auto about, read_optional(folder, "about.json", parse_about_json));
    if (!about.builder.empty()) return about;
    constexpr std::string_view kTool = "used_build_tool.json";
    GPKG_TRY(const auto text, read_info_text(folder, kTool));
    if (!text) return about;
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, *text, (folder / "info" / kTool).native()));
    GPKG_TRY(const auto name, json.text("name"));
    GPKG_TRY(const auto version, json.text("version"));
    about.builder = std::string(trim(name + " " + version));
    return about;
}

Result<PackageRecord> parse_repodata_record(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, text, what));
    GPKG_TRY(auto record, read_record(json));
    GPKG_TRY(record.channel, json.text("channel"));
    GPKG_TRY(record.fn, json.text("fn"));
    GPKG_TRY(record.url, json.text("url"));
    GPKG_TRY(record.md5, read_checksum(json, "md5", 32));
    GPKG_TRY(record.sha256, read_checksum(json, "sha256", 64));
    GPKG_TRY(record.size, json.count("size"));
    GPKG_TRY(const auto indexed, json.count("indexed_timestamp"));
    record.indexed_timestamp = milliseconds(indexed);
    if (json.find("legacy_bz2_md5")) {
        GPKG_TRY(record.legacy_bz2_md5, read_checksum(json, "legacy_bz2_md5", 32));
    }
    if (json.find("legacy_bz2_size")) {
        GPKG_TRY(record.legacy_bz2_size, json.count("legacy_bz2_size"));
    }
    return record;
}

Result<PackageRecord> read_repodata_record(const fs::path& folder) {
    GPKG_TRY(const auto text, read_info_text(folder, "repodata_record.json"));
    const auto path = folder / "info/repodata_record.json";
    if (!text) return fail(ErrorKind::NotFound, path.native() + ": not found");
    return parse_repodata_record(*text, path.native());
}

}  // namespace gpkg
