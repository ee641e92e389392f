#include "libcore/base/digest.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/lock/package_fields_internal.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace gpkg::lock {
namespace {

using yaml::Node;

constexpr std::size_t kLongestName = 128;
// Sources whose location begins with their name.
constexpr std::string_view kIdentified = "conda_source";

struct TextField {
    std::string_view key;
    std::string PackageRecord::*member;
};
constexpr TextField kTexts[] = {{"license", &PackageRecord::license},
                                {"license_family", &PackageRecord::license_family}};

struct ListField {
    std::string_view key;
    std::vector<std::string> PackageRecord::*member;
};
constexpr ListField kLists[] = {{"depends", &PackageRecord::depends},
                                {"constrains", &PackageRecord::constrains},
                                {"flags", &PackageRecord::flags},
                                {"track_features", &PackageRecord::track_features}};

struct MomentField {
    std::string_view key;
    std::int64_t PackageRecord::*member;
};
constexpr MomentField kMoments[] = {{"timestamp", &PackageRecord::timestamp},
                                    {"indexed_timestamp", &PackageRecord::indexed_timestamp}};

/// UTF-8 of a kind that YAML can carry: no code points that are no characters.
bool is_yaml_text(std::string_view text) {
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text.front());
        const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || text.size() < size) return false;
        std::uint32_t code = size == 1 ? first : first & (0xFFU >> (size + 1));
        for (const char c : text.substr(1, size - 1)) {
            if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80) return false;
            code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
        }
        constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
        const bool is_none = (code >= 0xD800 && code <= 0xDFFF) ||
                             (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFEU) == 0xFFFE;
        if (code < kLeast[size] || code > 0x10FFFF || is_none) return false;
        text.remove_prefix(size);
    }
    return true;
}

Result<std::string> utf8_text(const Node& node, std::string_view what) {
    GPKG_TRY(auto text, node.as_text(what));
    if (!is_yaml_text(text))
        return node.fail(fmt::format("{} is not UTF-8: '{}'", printable(what), printable(text)));
    return text;
}

Result<std::string> plain_text(const Node& node, std::string_view what) {
    GPKG_TRY(auto text, utf8_text(node, what));
    // Texts end up in file names and on terminals.
    if (std::any_of(text.begin(), text.end(), [](char c) {
            return (static_cast<unsigned char>(c) < ' ') || c == '\x7f';
        }))
        return node.fail(
            fmt::format("{} has a control character: '{}'", printable(what), printable(text)));
    return text;
}

Result<std::vector<std::string>> plain_texts(const Node& node, std::string_view what) {
    GPKG_TRY(auto texts, node.as_texts(what));
    if (node.is_scalar()) GPKG_CHECK(plain_text(node, what));  // it counts as a list of one
    for (const auto& item : node.items()) GPKG_CHECK(plain_text(item, what));
    return texts;
}

Result<std::string> read_hash(const Node& node, std::string_view key, std::size_t length) {
    GPKG_TRY(const auto text, node.as_text(key));
    if (!is_hex(text, length))
        return node.fail(fmt::format("expected {} hex digits for {}, found '{}'",
                                     length,
                                     printable(key),
                                     printable(text, 80)));
    return to_lower(text);
}

template <typename Number>
Result<Number> read_number(const Node& node, std::string_view key) {
    GPKG_TRY(const auto number, node.as_int(key));
    if (number < 0) return node.fail(fmt::format("{} cannot be negative", key));
    return static_cast<Number>(number);
}

bool is_location(std::string_view url) {
    return !url.empty() && std::all_of(url.begin(), url.end(), [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
    });
}

/// The number at the end of a build string, 0 when there is none.
std::uint64_t number_of_build(std::string_view build) {
    auto digits = build.size();
    while (digits > 0 && build[digits - 1] >= '0' && build[digits - 1] <= '9') --digits;
    std::uint64_t number = 0;
    const auto* end = build.data() + build.size();
    const auto [stop, code] = std::from_chars(build.data() + digits, end, number);
    return code == std::errc() ? number : 0;
}

std::string noarch_of(std::string_view subdir, std::string_view build) {
    if (subdir != "noarch") return {};
    return build.find("py") == std::string_view::npos ? "generic" : "python";
}

/// What the location alone tells of a record; the file name is taken to be right.
PackageRecord told_by(const std::string& location) {
    PackageRecord record;
    record.url = location;
    const std::string url(without_query(location));
    const auto slash = url.find_last_of("/\\");
    record.fn = slash == std::string::npos ? url : url.substr(slash + 1);
    // "x264-1%21164.3095-0.conda" of an epoch.
    if (auto decoded = percent_decode(record.fn)) record.fn = *std::move(decoded);
    if (const auto file = FileName::parse(record.fn)) {
        record.name = file->name;
        record.version = file->version;
        record.build = file->build;
    }
    if (slash != std::string::npos && url.find("://") != std::string::npos) {
        const auto folder = std::string_view(url).substr(0, slash);
        const auto before = folder.rfind('/');
        const auto subdir = folder.substr(before + 1);
        if (is_known_subdir(subdir)) record.subdir = subdir;
        record.channel = folder.substr(0, before);
    }
    record.build_number = number_of_build(record.build);
    record.noarch = noarch_of(record.subdir, record.build);
    return record;
}

std::string without_slash(std::string text) {
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

/// A word of a record that the file name says as well.
Result<void> check_same(const Node& value, std::string_view key, const std::string& of_file) {
    GPKG_TRY(const auto text, plain_text(value, key));
    if (text == of_file) return {};
    return value.fail(
        fmt::format("the {} is '{}', but '{}' in the file name", key, printable(text), of_file));
}

Result<void> read_noarch(const Node& value, PackageRecord& record) {
    GPKG_TRY(const auto text, plain_text(value, "noarch"));
    if (text == "python" || text == "generic") {
        record.noarch = text;
    } else {
        GPKG_TRY(const auto is_generic, value.as_bool("noarch"));
        record.noarch = is_generic ? "generic" : "";
    }
    return {};
}

Result<void> read_extra_depends(const Node& value, PackageRecord& record) {
    GPKG_CHECK(expect_map(value, "groups of dependencies"));
    for (const auto& [group, specs] : value.entries()) {
        if (!is_extra_name(group))
            return value.fail(
                fmt::format("'{}' is not a valid name of an extra", printable(group)));
        GPKG_TRY(record.extra_depends[group], plain_texts(specs, "dependencies"));
    }
    return {};
}

Result<void> read_place(std::string_view key, const Node& value, PackageRecord& record) {
    if (key == "channel") {
        GPKG_TRY(auto channel, plain_text(value, key));
        record.channel = without_slash(std::move(channel));
        return {};
    }
    GPKG_TRY(record.subdir, plain_text(value, key));
    if (!is_subdir(record.subdir))
        return value.fail(fmt::format("'{}' is not a subdir", printable(record.subdir)));
    return {};
}

/// False for a key that says nothing to gpkg.
Result<bool> read_field(const std::string& key, const Node& value, PackageRecord& record) {
    const auto has_key = [&](const auto& field) { return field.key == key; };
    if (const auto* field = std::find_if(std::begin(kTexts), std::end(kTexts), has_key);
        field != std::end(kTexts)) {
        GPKG_TRY(record.*(field->member), plain_text(value, key));
    } else if (const auto* list = std::find_if(std::begin(kLists), std::end(kLists), has_key);
               list != std::end(kLists)) {
        GPKG_TRY(record.*(list->member), plain_texts(value, key));
    } else if (const auto* moment = std::find_if(std::begin(kMoments), std::end(kMoments), has_key);
               moment != std::end(kMoments)) {
        GPKG_TRY(record.*(moment->member), read_number<std::int64_t>(value, key));
    } else if (key == "name") {
        GPKG_CHECK(check_same(value, key, record.name));
    } else if (key == "version") {
        GPKG_CHECK(check_same(value, key, record.version));
    } else if (key == "build") {
        GPKG_CHECK(check_same(value, key, record.build));
    } else if (key == "file_name") {
        GPKG_CHECK(check_same(value, key, record.fn));
    } else if (key == "sha256") {
        GPKG_TRY(record.sha256, read_hash(value, key, kSha256Length));
    } else if (key == "md5") {
        GPKG_TRY(record.md5, read_hash(value, key, kMd5Length));
    } else if (key == "legacy_bz2_md5") {
        GPKG_TRY(record.legacy_bz2_md5, read_hash(value, key, kMd5Length));
    } else if (key == "legacy_bz2_size") {
        GPKG_TRY(record.legacy_bz2_size, read_number<std::uint64_t>(value, key));
    } else if (key == "size") {
        GPKG_TRY(record.size, read_number<std::uint64_t>(value, key));
    } else if (key == "build_number") {
        GPKG_TRY(record.build_number, read_number<std::uint64_t>(value, key));
    } else if (key == "noarch") {
        GPKG_CHECK(read_noarch(value, record));
    } else if (key == "channel" || key == "subdir") {
        GPKG_CHECK(read_place(key, value, record));
    } else if (key == "extra_depends") {
        GPKG_CHECK(read_extra_depends(value, record));
    } else if (key == "python_site_packages_path") {
        GPKG_TRY(auto path, plain_text(value, key));
        if (!path.empty()) record.python_site_packages_path = std::move(path);
    } else {
        return false;
    }
    return true;
}

}  // namespace

Result<const Node*> required(const Node& map, std::string_view key) {
    const auto* node = map.find(key);
    if (node == nullptr) return map.fail(fmt::format("the key '{}' is missing", key));
    if (node->is_null()) return node->fail(fmt::format("the key '{}' has no value", key));
    return node;
}

Result<std::string> text_of(const Node& map, std::string_view key) {
    const auto* node = map.find(key);
    if (node == nullptr || node->is_null()) return std::string{};
    return plain_text(*node, key);
}

Result<std::string> any_text(const Node& node, std::string_view what) {
    GPKG_TRY(auto text, utf8_text(node, what));
    if (text.find('\0') != std::string::npos)
        return node.fail(fmt::format("{} has a NUL character", printable(what)));
    return text;
}

Result<std::string> required_text(const Node& map, std::string_view key) {
    GPKG_TRY(const auto* node, required(map, key));
    GPKG_TRY(auto text, plain_text(*node, key));
    if (text.empty()) return node->fail(fmt::format("the key '{}' has no value", key));
    return text;
}

Result<std::vector<std::string>> texts_of(const Node& map, std::string_view key) {
    const auto* node = map.find(key);
    if (node == nullptr) return std::vector<std::string>{};
    return plain_texts(*node, key);
}

Result<std::string> hash_of(const Node& map, std::string_view key, std::size_t length) {
    const auto* node = map.find(key);
    if (node == nullptr || node->is_null()) return std::string{};
    if (node->is_scalar() && node->text().empty()) return std::string{};
    return read_hash(*node, key, length);
}

Result<void> check_keys(const Node& map, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : map.entries()) {
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        const auto near = near_names(key, std::vector<std::string>(known.begin(), known.end()));
        return fail(ErrorKind::Parse,
                    fmt::format("{}: unknown key '{}'", value.key_place(), printable(key)),
                    near.empty() ? "" : fmt::format("did you mean {}?", join_or(near)));
    }
    return {};
}

Result<void> expect_map(const Node& node, std::string_view what) {
    if (node.is_map()) return {};
    return node.fail(fmt::format("expected {} as a map, found {}", what, node.kind_name()));
}

Result<void> expect_list(const Node& node, std::string_view what) {
    if (node.is_list()) return {};
    return node.fail(fmt::format("expected a list of {}, found {}", what, node.kind_name()));
}

Result<void> check_name(const Node& at, std::string_view name) {
    const auto is_good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    };
    if (!name.empty() && name.size() <= kLongestName && name.front() != '.' &&
        std::all_of(name.begin(), name.end(), is_good))
        return {};
    return fail(ErrorKind::Parse,
                fmt::format("{}: '{}' is not a valid name", at.key_place(), printable(name)),
                "use letters, digits, '_', '-' and '.'");
}

Result<void> check_platform(const Node& at, std::string_view platform) {
    if (platform != "noarch" && is_known_subdir(platform)) return {};
    return fail(ErrorKind::Parse,
                fmt::format("{}: unknown platform '{}'", at.key_place(), printable(platform)));
}

Result<void> keep(KeptYaml& kept, const std::string& key, const Node& value) {
    auto line = yaml::one_line(value);
    const auto again = Node::parse(line, "");
    if (key.empty() || printable(key) != key || !again || yaml::one_line(*again) != line)
        return fail(
            ErrorKind::Parse,
            fmt::format("{}: unknown key '{}' cannot be kept", value.key_place(), printable(key)));
    kept[key] = std::move(line);
    return {};
}

Result<void> check_needs(const Node& at, const std::vector<std::string>& needs) {
    for (const auto& text : needs) {
        const auto spec = MatchSpec::parse(text);
        if (!spec) return fail_at(at, spec.error());
        if (!is_virtual_package_name(spec->name))
            return at.fail(fmt::format("'{}' is not a spec of a virtual package", printable(text)));
    }
    return {};
}

std::vector<std::string> needs_of(const std::vector<PackageRecord>& records) {
    return least_needs(records, {}, RunConstraints::Ignore);
}

Result<std::vector<LockedChannel>> read_channels(const Node& list) {
    GPKG_CHECK(expect_list(list, "channels"));
    std::vector<LockedChannel> channels;
    for (const auto& item : list.items()) {
        LockedChannel channel;
        if (item.is_map()) {
            GPKG_TRY(channel.url, required_text(item, "url"));
            GPKG_TRY(channel.used_env_vars, texts_of(item, "used_env_vars"));
        } else {
            GPKG_TRY(channel.url, plain_text(item, "a channel"));
        }
        channel.url = without_slash(std::move(channel.url));
        if (channel.url.empty()) return item.fail("a channel is empty");
        channels.push_back(std::move(channel));
    }
    return channels;
}

void write_channels(BlockWriter& out,
                    int depth,
                    const std::vector<LockedChannel>& channels,
                    bool with_slash) {
    if (channels.empty()) return out.as_is(depth, "channels", "[]");
    out.open(depth, "channels");
    for (const auto& channel : channels) {
        out.item(depth, "url", with_slash ? channel.url + "/" : channel.url);
        out.list(depth + 1, "used_env_vars", channel.used_env_vars);
    }
}

tl::unexpected<Error> fail_at(const Node& node, Error error) {
    error.message = node.place() + ": " + error.message;
    return pass(std::move(error));
}

Result<PackageRecord> record_of_url(const Node& at, const std::string& url) {
    if (!is_location(url)) return at.fail(fmt::format("'{}' is not a package URL", printable(url)));
    auto record = told_by(url);
    if (const auto file = FileName::parse(record.fn); !file) return fail_at(at, file.error());
    return record;
}

Result<void> check_writable(const PackageRecord& record) {
    const auto told = told_by(record.url);
    if (is_location(record.url) && !record.subdir.empty() && told.fn == record.fn &&
        told.name == record.name && told.version == record.version && told.build == record.build)
        return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("{} cannot be locked: its file has another name: '{}'",
                            printable(record.distribution()),
                            printable(record.url)));
}

Error no_subdir(const Node& map, const PackageRecord& record) {
    return map
        .fail(fmt::format("the subdir of {} is missing and not part of its URL",
                          printable(record.fn)),
              "add `subdir:`")
        .value();
}

Result<std::vector<std::string>> read_dependencies(const Node& entry) {
    std::vector<std::string> specs;
    const auto* node = entry.find("dependencies");
    if (node == nullptr || node->is_null()) return specs;
    GPKG_CHECK(expect_map(*node, "dependencies"));
    for (const auto& [name, value] : node->entries()) {
        if (!is_package_name(to_lower(name)) && !is_virtual_package_name(name))
            return fail(
                ErrorKind::Parse,
                fmt::format("{}: '{}' is not a package name", value.key_place(), printable(name)));
        GPKG_TRY(const auto constraint, text_of(*node, name));
        specs.emplace_back(trim(fmt::format("{} {}", name, trim(constraint))));
    }
    return specs;
}

Result<LockedPackage> read_package(const Node& map,
                                   std::string_view location_key,
                                   const std::string& url,
                                   const std::string& platform) {
    const auto* location = map.find(location_key);
    LockedPackage package;
    GPKG_TRY(package.record, record_of_url(location == nullptr ? map : *location, url));
    auto& record = package.record;
    for (const auto& [key, value] : map.entries()) {
        if (key == location_key) continue;
        // pixi writes `channel: null` for a package that comes from none.
        if (value.is_null() && key == "channel") record.channel.clear();
        if (value.is_null()) continue;
        GPKG_TRY(const bool is_known, read_field(key, value, record));
        if (!is_known) GPKG_CHECK(keep(package.kept, key, value));
    }
    if (record.subdir.empty()) record.subdir = platform;
    if (record.subdir.empty()) return pass(no_subdir(map, record));
    if (map.find("noarch") == nullptr) record.noarch = noarch_of(record.subdir, record.build);
    return package;
}

void write_package(BlockWriter& out, int depth, const PackageRecord& record) {
    const auto told = told_by(record.url);
    if (record.build_number != told.build_number)
        out.line(depth, "build_number", record.build_number);
    if (record.subdir != told.subdir) out.line(depth, "subdir", record.subdir);
    if (record.noarch != noarch_of(record.subdir, record.build))
        out.as_is(depth, "noarch", record.noarch.empty() ? "false" : record.noarch);
    out.line(depth, "sha256", record.sha256);
    out.line(depth, "md5", record.md5);
    out.line(depth, "legacy_bz2_md5", record.legacy_bz2_md5.value_or(""));
    for (const auto& [key, member] : kLists) out.list(depth, key, record.*member);
    if (!record.extra_depends.empty()) out.open(depth, "extra_depends");
    for (const auto& [group, specs] : record.extra_depends) {
        if (specs.empty()) out.as_is(depth + 1, group, "[]");
        out.list(depth + 1, group, specs);
    }
    if (record.channel != told.channel && record.channel.empty()) {
        out.as_is(depth, "channel", "null");
    } else if (record.channel != told.channel) {
        out.line(depth, "channel", record.channel);
    }
    for (const auto& [key, member] : kTexts) out.line(depth, key, record.*member);
    if (record.size != 0) out.line(depth, "size", record.size);
    if (record.legacy_bz2_size) out.line(depth, "legacy_bz2_size", *record.legacy_bz2_size);
    for (const auto& [key, member] : kMoments) {
        if (record.*member != 0) out.line(depth, key, static_cast<std::uint64_t>(record.*member));
    }
    if (record.python_site_packages_path)
        out.line(depth, "python_site_packages_path", *record.python_site_packages_path);
}

Result<ForeignPackage> read_foreign(const Node& map,
                                    std::string_view kind,
                                    std::string_view location_key) {
    ForeignPackage package;
    package.kind = kind;
    GPKG_TRY(package.location, required_text(map, location_key));
    GPKG_TRY(package.name, text_of(map, "name"));
    // "mine[ac2e8eb3] @ ./mine"
    if (kind == kIdentified) package.name = package.location.substr(0, package.location.find('['));
    GPKG_TRY(package.version, text_of(map, "version"));
    GPKG_TRY(package.sha256, hash_of(map, "sha256", kSha256Length));
    GPKG_TRY(package.md5, hash_of(map, "md5", kMd5Length));
    if (const auto* editable = map.find("editable"); editable != nullptr && !editable->is_null()) {
        GPKG_TRY(package.is_editable, editable->as_bool("editable"));
    }
    constexpr std::string_view kRead[] = {"name", "version", "sha256", "md5", "editable"};
    for (const auto& [key, value] : map.entries()) {
        if (key != location_key && !value.is_null() &&
            std::find(std::begin(kRead), std::end(kRead), key) == std::end(kRead))
            GPKG_CHECK(keep(package.kept, key, value));
    }
    return package;
}

void write_foreign(BlockWriter& out, int depth, const ForeignPackage& package) {
    if (package.kind != kIdentified) out.line(depth, "name", package.name);
    out.line(depth, "version", package.version);
    out.line(depth, "sha256", package.sha256);
    out.line(depth, "md5", package.md5);
    if (package.is_editable) out.as_is(depth, "editable", "true");
}

}  // namespace gpkg::lock
