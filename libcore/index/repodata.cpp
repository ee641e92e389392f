#include "libcore/index/repodata.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <simdjson.h>
#include <unordered_set>

namespace gpkg {
namespace {

namespace json = simdjson::dom;

constexpr std::size_t kLongestText = 1U << 20U;
constexpr std::size_t kLargestIndex = std::size_t{8} << 30U;
/// Later than year 9999 in seconds, so it must be milliseconds (what conda's tools assume).
constexpr std::int64_t kLastSecond = 253402300799;

/// Whatever is wrong inside the document, thrown to read_repodata and no further.
struct Malformed {
    std::string reason;
};

[[noreturn]] void refuse(std::string reason) { throw Malformed{std::move(reason)}; }

std::string_view type_name(json::element_type type) {
    switch (type) {
    case json::element_type::ARRAY: return "a list";
    case json::element_type::OBJECT: return "a map";
    case json::element_type::INT64:
    case json::element_type::UINT64:
    case json::element_type::DOUBLE: return "a number";
    case json::element_type::STRING: return "a text";
    case json::element_type::BOOL: return "true or false";
    case json::element_type::NULL_VALUE: return "null";
    }
    return "something else";
}

// By value: a range-for over `.value()` of a temporary result would outlive it.
json::object as_map(json::element value) { return value.get_object().value(); }
json::array as_list(json::element value) { return value.get_array().value(); }

/// Reads the fields of one record; `where` is its file name.
struct Fields {
    std::string_view where;

    [[noreturn]] void wrong(std::string_view key,
                            std::string_view wanted,
                            json::element value) const {
        refuse(fmt::format(
            "{}: '{}' should be {}, not {}", where, key, wanted, type_name(value.type())));
    }

    std::string_view text(std::string_view key, json::element value) const {
        const auto type = value.type();
        if (type == json::element_type::NULL_VALUE) return {};
        if (type != json::element_type::STRING) wrong(key, "a text", value);
        const std::string_view found = value.get_string().value();
        if (found.size() > kLongestText)
            refuse(fmt::format("{}: '{}' is longer than 1 MiB", where, key));
        return found;
    }

    std::uint64_t number(std::string_view key, json::element value) const {
        if (value.type() == json::element_type::NULL_VALUE) return 0;
        std::uint64_t found = 0;
        if (value.get_uint64().get(found) != simdjson::SUCCESS) wrong(key, "a whole number", value);
        return found;
    }

    std::int64_t moment(std::string_view key, json::element value) const {
        if (value.type() == json::element_type::NULL_VALUE) return 0;
        double found = 0;  // some old records hold fractions
        if (value.get_double().get(found) != simdjson::SUCCESS) wrong(key, "a number", value);
        // A clock set before 1970 spoils the order of its own builds only.
        if (!(found > -9e15 && found < 9e15))
            refuse(fmt::format("{}: '{}' is no time", where, key));
        const auto whole = static_cast<std::int64_t>(found);
        return whole > kLastSecond ? whole : whole * 1000;
    }

    std::vector<std::string_view> list(std::string_view key, json::element value) const {
        std::vector<std::string_view> found;
        const auto type = value.type();
        if (type == json::element_type::NULL_VALUE) return found;
        if (type != json::element_type::ARRAY) wrong(key, "a list", value);
        for (json::element item : as_list(value)) found.push_back(text(key, item));
        return found;
    }

    /// CEP 34 wants one text with commas or spaces between; lists occur.
    std::vector<std::string_view> features(json::element value) const {
        if (value.type() == json::element_type::ARRAY) return list("track_features", value);
        std::vector<std::string_view> found;
        std::string_view rest = text("track_features", value);
        while (!rest.empty()) {
            const auto end = std::min(rest.find_first_of(", "), rest.size());
            if (end > 0) found.push_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return found;
    }

    std::string_view noarch(json::element value) const {
        switch (value.type()) {
        case json::element_type::NULL_VALUE: return {};
        case json::element_type::BOOL: return value.get_bool().value() ? "generic" : "";
        default: return text("noarch", value);
        }
    }
};

class RepodataReader {
public:
    explicit RepodataReader(const IndexSource& source) : source_(source), builder_(source) {}

    void read(json::element document) {
        if (document.type() != json::element_type::OBJECT) refuse("the top level should be a map");
        std::unordered_set<std::string> seen;
        for (auto field : as_map(document)) {
            const std::string key(std::string_view(field.key));
            if (!seen.insert(key).second)
                refuse(fmt::format("the key '{}' stands at the top twice", key));
            const json::element value = field.value;
            if (key == "info") {
                read_info(value);
            } else if (key == "repodata_version") {
                check_version(value);
            } else if (key == "packages") {
                read_packages(key, value, ".tar.bz2", false);
            } else if (key == "packages.conda") {
                read_packages(key, value, ".conda", false);
            } else if (key == "v3") {
                read_v3(value);
            } else if (key == "removed") {
                for (const auto fn : Fields{"removed"}.list("removed", value)) builder_.remove(fn);
            }
        }
        builder_.set_base_url(directory(
            base_url_ ? resolve_url(source_.url, *base_url_) : source_.url, base_url_.has_value()));
    }

    Result<ChannelIndex> finish() && { return std::move(builder_).finish(); }

private:
    static std::string directory(std::string url, bool is_directory) {
        if (!is_directory) return url.substr(0, url.rfind('/') + 1);
        if (!url.ends_with('/')) url += '/';
        return url;
    }

    static void check_version(json::element value) {
        const auto version = Fields{"repodata_version"}.number("repodata_version", value);
        if (version > 2)
            refuse(fmt::format("repodata_version {} is newer than this gpkg understands (2)",
                               version));
    }

    void read_info(json::element value) {
        const Fields fields{"info"};
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT) fields.wrong("info", "a map", value);
        for (auto field : as_map(value)) {
            const std::string key(std::string_view(field.key));
            json::element item = field.value;
            if (key == "base_url") {
                const auto url = fields.text(key, item);
                if (!url.empty()) base_url_ = std::string(url);
            } else if (key == "repodata_version") {
                check_version(item);
            } else if (key == "repodata_revisions") {
                read_revisions(item);
            }
        }
    }

    /// CEP 48: says how many records of which newer form this gpkg leaves out.
    void read_revisions(json::element value) {
        if (value.type() != json::element_type::OBJECT) return;
        for (auto field : as_map(value)) {
            const std::string revision(std::string_view(field.key));
            json::element item = field.value;
            if (revision == "v3" || item.type() != json::element_type::OBJECT) continue;
            std::uint64_t count = 0;
            std::string message;
            for (auto entry : as_map(item)) {
                const std::string key(std::string_view(entry.key));
                json::element detail = entry.value;
                if (key == "n_packages") count = Fields{revision}.number(key, detail);
                if (key == "message") message = std::string(Fields{revision}.text(key, detail));
            }
            builder_.add_note(fmt::format("{}: {} records of form {} are newer than this gpkg{}{}",
                                          source_.channel,
                                          count,
                                          revision,
                                          message.empty() ? "" : ": ",
                                          message.substr(0, 8192)));
        }
    }

    void read_v3(json::element value) {
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT) Fields{"v3"}.wrong("v3", "a map", value);
        std::unordered_set<std::string> seen;
        for (auto field : as_map(value)) {
            const std::string extension(std::string_view(field.key));
            if (!seen.insert(extension).second)
                refuse(fmt::format("the key '{}' stands in v3 twice", extension));
            if (extension == "conda" || extension == "tar.bz2")
                read_packages("v3." + extension, field.value, "." + extension, true);
        }
    }

    void read_packages(const std::string& map,
                       json::element value,
                       std::string_view extension,
                       bool v3) {
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT) Fields{map}.wrong(map, "a map", value);
        std::unordered_set<std::string> seen;
        for (auto field : as_map(value)) {
            std::string fn(std::string_view(field.key));
            json::element item = field.value;
            if (v3) {
                if (fn.ends_with(extension)) continue;  // malformed by CEP 48: keys are stems
                fn += extension;
            }
            if (!is_safe_relative(fn) || fn.find('/') != std::string::npos)
                refuse(fmt::format("{}: '{}' is no file name", map, fn.substr(0, 200)));
            if (!fn.ends_with(extension))
                refuse(fmt::format("{}: '{}' does not end in {}", map, fn, extension));
            if (!seen.insert(fn).second) refuse(fmt::format("'{}' stands in {} twice", fn, map));
            if (item.type() != json::element_type::OBJECT)
                refuse(fmt::format("{}: should be a map, not {}", fn, type_name(item.type())));
            read_record(fn, as_map(item));
        }
    }

    void read_record(const std::string& fn, json::object object) {
        const Fields fields{fn};
        ChannelIndex::Row row;
        std::string_view name, version, build;
        for (auto field : object) {
            const std::string_view key = field.key;
            const json::element value = field.value;
            switch (key.empty() ? '\0' : key.front()) {
            case 'b':
                if (key == "build") row.build = builder_.intern(build = fields.text(key, value));
                if (key == "build_number") row.build_number = fields.number(key, value);
                break;
            case 'c':
                if (key == "constrains")
                    row.constrains = builder_.add_specs(fields.list(key, value));
                break;
            case 'd':
                if (key == "depends") row.depends = builder_.add_specs(fields.list(key, value));
                break;
            case 'e':
                if (key == "extra_depends") row.extras = read_extras(fields, value);
                break;
            case 'f':
                if (key == "flags") row.flags = builder_.add_texts(fields.list(key, value));
                break;
            case 'i':
                if (key == "indexed_timestamp") row.indexed_timestamp = fields.moment(key, value);
                break;
            case 'l':
                if (key == "license") row.license = builder_.intern(fields.text(key, value));
                if (key == "license_family")
                    row.license_family = builder_.intern(fields.text(key, value));
                break;
            case 'm':
                if (key == "md5") row.md5 = digest(fields, key, value, 32);
                break;
            case 'n':
                if (key == "name") row.name = builder_.intern(name = fields.text(key, value));
                if (key == "noarch") row.noarch = builder_.intern(fields.noarch(value));
                break;
            case 'p':
                if (key == "python_site_packages_path" &&
                    value.type() != json::element_type::NULL_VALUE) {
                    row.python_site_packages_path = builder_.intern(fields.text(key, value));
                    row.has_site_packages_path = true;
                }
                break;
            case 's':
                if (key == "sha256") row.sha256 = digest(fields, key, value, 64);
                if (key == "size") row.size = fields.number(key, value);
                break;
            case 't':
                if (key == "timestamp") row.timestamp = fields.moment(key, value);
                if (key == "track_features")
                    row.track_features = builder_.add_texts(fields.features(value));
                break;
            case 'v':
                if (key == "version")
                    row.version = builder_.intern(version = fields.text(key, value));
                break;
            default: break;
            }
        }
        check_identity(fn, name, version, build);
        row.fn = builder_.append(fn);
        builder_.add_row(row);
    }

    /// The artifact a name leads to must be the one the record describes: the file name becomes a
    /// path on this machine and a URL.
    static void check_identity(std::string_view fn,
                               std::string_view name,
                               std::string_view version,
                               std::string_view build) {
        if (name.empty()) refuse(fmt::format("{}: has no name", fn));
        if (version.empty()) refuse(fmt::format("{}: has no version", fn));
        for (const auto part : {name, version, build}) {
            if (part.find_first_of("/\\ \n") != std::string_view::npos || part.size() > 256)
                refuse(fmt::format(
                    "{}: '{}' can be no name, version or build", fn, part.substr(0, 200)));
        }
    }

    ChannelIndex::Text digest(const Fields& fields,
                              std::string_view key,
                              json::element value,
                              std::size_t length) {
        const auto text = fields.text(key, value);
        if (text.empty()) return {};
        if (!is_hex(text, length))
            refuse(fmt::format("{}: '{}' should be {} hex digits", fields.where, key, length));
        return builder_.append(to_lower(text));
    }

    ChannelIndex::Range read_extras(const Fields& fields, json::element value) {
        std::vector<ChannelIndex::Extra> extras;
        if (value.type() == json::element_type::NULL_VALUE) return {};
        if (value.type() != json::element_type::OBJECT)
            fields.wrong("extra_depends", "a map", value);
        for (auto field : as_map(value)) {
            const std::string_view group = field.key;
            const auto name = builder_.intern(group);
            extras.push_back({name, builder_.add_specs(fields.list("extra_depends", field.value))});
        }
        return builder_.add_extras(extras);
    }

    const IndexSource& source_;
    ChannelIndexBuilder builder_;
    std::optional<std::string> base_url_;
};

}  // namespace

Result<ChannelIndex> read_repodata(std::string text, const IndexSource& source) {
    const auto refusal = [&](std::string_view reason) {
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: {}", source.url, reason),
            "the index is damaged or not one that can be trusted: fetch it again, or tell the "
            "channel's maintainers");
    };
    if (trim(text).empty()) text = "{}";
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    try {
        json::parser parser;
        const auto document = parser.parse(text).value();
        RepodataReader reader(source);
        reader.read(document);
        return std::move(reader).finish();
    } catch (const Malformed& problem) {
        return refusal(problem.reason);
    } catch (const simdjson::simdjson_error& problem) {
        return refusal(fmt::format("not valid JSON, or cut off: {}", problem.what()));
    }
}

Result<ChannelIndex> read_repodata_file(const fs::path& path, const IndexSource& source) {
    GPKG_TRY(auto bytes, read_file(path));
    constexpr std::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);
    if (path.extension() == ".zst" || bytes.starts_with(kZstdMagic)) {
        GPKG_TRY(bytes, zstd_decompress(bytes, source.url, kLargestIndex));
    }
    return read_repodata(std::move(bytes), source);
}

std::string resolve_url(std::string_view base, std::string_view reference) {
    if (reference.find("://") != std::string_view::npos) return std::string(reference);
    const auto authority = base.find("://") == std::string_view::npos ? 0 : base.find("://") + 3;
    const auto root = std::min(base.find('/', authority), base.size());
    std::vector<std::string_view> path;
    if (!reference.starts_with('/')) {
        path = split(base.substr(std::min(root + 1, base.size())), '/');
        path.pop_back();  // the document itself
    } else {
        reference.remove_prefix(1);
    }
    for (const auto piece : split(reference, '/')) {
        if (!path.empty() && path.back().empty()) path.pop_back();
        if (piece == "..") {
            if (!path.empty()) path.pop_back();
            path.emplace_back();
        } else if (piece == ".") {
            path.emplace_back();
        } else {
            path.push_back(piece);
        }
    }
    std::string url(base.substr(0, root));
    for (const auto piece : path) url += "/" + std::string(piece);
    return url;
}

}  // namespace gpkg
