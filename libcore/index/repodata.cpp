#include "libcore/index/repodata.hpp"

#include "libcore/base/text.hpp"
#include "libcore/index/base_url_internal.hpp"
#include "libcore/index/fields_internal.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unordered_set>

namespace gpkg {
namespace {

using namespace repodata;

/// Below this a document is unpacked whatever its ratio is.
constexpr std::size_t kSmallIndex = std::size_t{256} << 20U;
/// Real indexes, full of checksums, unpack to 5 to 30 times their size.
constexpr std::size_t kMostPerByte = 1000;
constexpr std::size_t kLongestReason = 500;
constexpr std::size_t kLongestMessage = 8192;

/// A record on its way into the index.
struct Draft {
    ChannelIndex::Row row;
    std::string_view name, version, build;
    std::string fault{};  ///< why the rules for records forbid it; the others do not suffer
};

/// Refuses a key that stands in a map twice: which of the two counts would be the reader's choice.
class OnlyOnce {
public:
    explicit OnlyOnce(std::string_view where) : where_(where) {}
    void operator()(std::string_view key) {
        if (!seen_.emplace(key).second)
            refuse(fmt::format("the key '{}' stands {} twice", key, where_));
    }

private:
    std::string_view where_;
    std::unordered_set<std::string> seen_;
};

class RepodataReader {
public:
    explicit RepodataReader(const IndexSource& source) : source_(source), builder_(source) {}

    void read(json::element document) {
        if (document.type() != json::element_type::OBJECT) refuse("the top level should be a map");
        OnlyOnce once("at the top");
        std::vector<std::pair<std::string, json::element>> legacy;
        for (auto field : as_map(document)) {
            const std::string key(std::string_view(field.key));
            once(key);
            const json::element value = field.value;
            if (key == "info") {
                read_info(value);
            } else if (key == "repodata_version") {
                check_version(value);
            } else if (key == "packages" || key == "packages.conda") {
                legacy.emplace_back(key, value);
            } else if (key == "v3") {
                read_v3(value);
            } else if (key == "removed") {
                for (const auto fn : Fields{"removed"}.list("removed", value)) builder_.remove(fn);
            }
        }
        // After v3, wherever it stands: it says more about a file that both have.
        for (const auto& [key, value] : legacy)
            read_packages(key, value, key == "packages" ? ".tar.bz2" : ".conda", false);
        auto folder = artifact_folder(source_.url, base_url_);
        if (!folder) refuse(std::move(folder).error().message);
        builder_.set_base_url(*std::move(folder));
        note_left_out();
    }

    Result<ChannelIndex> finish() && { return std::move(builder_).finish(); }

private:
    static void check_version(json::element value) {
        const auto version = Fields{"repodata_version"}.number("repodata_version", value);
        if (version > 2)
            throw Malformed{
                fmt::format("repodata_version {} is newer than this gpkg understands (2)", version),
                true};
    }

    void read_info(json::element value) {
        const Fields fields{"info"};
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT) fields.wrong("info", "a map", value);
        OnlyOnce once("in info");
        for (auto field : as_map(value)) {
            const std::string key(std::string_view(field.key));
            once(key);
            json::element item = field.value;
            if (key == "base_url") {
                base_url_ = fields.text(key, item);
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
                                          printable(revision),
                                          message.empty() ? "" : ": ",
                                          printable(message, kLongestMessage)));
        }
    }

    void read_v3(json::element value) {
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT) Fields{"v3"}.wrong("v3", "a map", value);
        OnlyOnce once("in v3");
        for (auto field : as_map(value)) {
            const std::string extension(std::string_view(field.key));
            once(extension);
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
                if (fn.ends_with(extension)) {
                    leave_out(fn, "its key should be without the extension");
                    continue;
                }
                fn += extension;
            }
            if (!is_safe_relative(fn) || fn.find('/') != std::string::npos)
                refuse(fmt::format("{}: '{}' is no file name", map, fn.substr(0, 200)));
            if (!fn.ends_with(extension))
                refuse(fmt::format("{}: '{}' does not end in {}", map, fn, extension));
            if (v3) {
                v3_files_.insert(fn);
            } else if (v3_files_.contains(fn)) {
                continue;
            }
            if (!seen.insert(fn).second) refuse(fmt::format("'{}' stands in {} twice", fn, map));
            if (item.type() != json::element_type::OBJECT)
                refuse(fmt::format("{}: should be a map, not {}", fn, type_name(item.type())));
            read_record(fn, extension, as_map(item));
        }
    }

    void read_record(const std::string& fn, std::string_view extension, json::object object) {
        const Fields fields{fn};
        Draft draft;
        std::uint32_t seen = 0;
        for (auto field : object) {
            const std::string_view name = field.key;
            const auto key = key_of(name);
            if (key == Key::Other) continue;
            const auto bit = 1U << static_cast<unsigned>(key);
            if ((seen & bit) != 0)
                refuse(fmt::format("{}: the key '{}' stands there twice", fn, name));
            seen |= bit;
            read_field(fields, key, name, field.value, draft);
        }
        check_identity(fn, extension, draft);
        if (!draft.fault.empty()) return leave_out(fn, std::move(draft.fault));
        draft.row.fn = builder_.append(fn);
        builder_.add_row(draft.row);
    }

    void read_field(
        const Fields& fields, Key key, std::string_view name, json::element value, Draft& draft) {
        auto& row = draft.row;
        const auto text = [&] { return fields.text(name, value); };
        const auto specs = [&] { return builder_.add_specs(fields.list(name, value)); };
        const auto digest = [&](std::size_t length) {
            const auto digits = fields.digest(name, value, length);
            return digits.empty() ? ChannelIndex::Text{} : builder_.append(to_lower(digits));
        };
        switch (key) {
        case Key::Build: row.build = builder_.intern(draft.build = text()); break;
        case Key::BuildNumber: row.build_number = fields.number(name, value); break;
        case Key::Constrains: row.constrains = specs(); break;
        case Key::Depends: row.depends = specs(); break;
        case Key::ExtraDepends: read_extras(fields, value, draft); break;
        case Key::Flags: read_flags(fields, value, draft); break;
        case Key::IndexedTimestamp: row.indexed_timestamp = fields.moment(name, value); break;
        case Key::License: row.license = builder_.intern(text()); break;
        case Key::LicenseFamily: row.license_family = builder_.intern(text()); break;
        case Key::Md5: row.md5 = digest(32); break;
        case Key::Name: row.name = builder_.intern(draft.name = text()); break;
        case Key::Noarch: row.noarch = builder_.intern(fields.noarch(value)); break;
        case Key::PythonSitePackagesPath:
            row.has_site_packages_path = value.type() != json::element_type::NULL_VALUE;
            row.python_site_packages_path = builder_.intern(text());
            break;
        case Key::Sha256: row.sha256 = digest(64); break;
        case Key::Size: row.size = fields.number(name, value); break;
        case Key::Timestamp: row.timestamp = fields.moment(name, value); break;
        case Key::TrackFeatures:
            row.track_features = builder_.add_texts(fields.features(value));
            break;
        case Key::Version: row.version = builder_.intern(draft.version = text()); break;
        case Key::Other: break;
        }
    }

    /// The artifact a name leads to must be the one the record describes: the file name becomes a
    /// path on this machine and a URL.
    static void check_identity(std::string_view fn, std::string_view extension, Draft& draft) {
        const auto& [row, name, version, build, fault] = draft;
        if (name.empty()) refuse(fmt::format("{}: has no name", fn));
        if (version.empty()) refuse(fmt::format("{}: has no version", fn));
        for (const auto part : {name, version, build}) {
            if (part.find_first_of("/\\ \n") != std::string_view::npos || part.size() > 256)
                refuse(fmt::format(
                    "{}: '{}' can be no name, version or build", fn, part.substr(0, 200)));
        }
        const auto prints = [](char c) { return c > ' ' && c < '\x7f'; };
        if (!is_package_name(name)) {
            draft.fault = fmt::format("'{}' is not a package name", name);
        } else if (!std::all_of(version.begin(), version.end(), prints)) {
            draft.fault = fmt::format("'{}' is not a version", version);
        } else if (!is_build_string(build)) {
            draft.fault = fmt::format("'{}' is not a build string", build);
        } else if (const auto own = fmt::format("{}-{}-{}{}", name, version, build, extension);
                   own != fn) {
            draft.fault = fmt::format("the record is that of {}", own);
        }
    }

    void read_extras(const Fields& fields, json::element value, Draft& draft) {
        std::vector<ChannelIndex::Extra> extras;
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT)
            fields.wrong("extra_depends", "a map", value);
        OnlyOnce once("in extra_depends");
        for (auto field : as_map(value)) {
            const std::string_view group = field.key;
            once(group);
            if (!is_extra_name(group))
                draft.fault = fmt::format("'{}' is not a name of extras", group);
            const auto name = builder_.intern(group);
            extras.push_back({name, builder_.add_specs(fields.list("extra_depends", field.value))});
        }
        draft.row.extras = builder_.add_extras(extras);
    }

    void read_flags(const Fields& fields, json::element value, Draft& draft) {
        const auto flags = fields.list("flags", value);
        for (const auto flag : flags) {
            if (!is_flag(flag)) draft.fault = fmt::format("'{}' is not a flag", flag);
        }
        draft.row.flags = builder_.add_texts(flags);
    }

    void leave_out(std::string_view fn, std::string why) {
        if (left_out_++ == 0) first_left_out_ = fmt::format("{}: {}", fn, why);
    }

    void note_left_out() {
        if (left_out_ == 0) return;
        const auto first = printable(first_left_out_, kLongestReason);
        builder_.add_note(
            left_out_ == 1
                ? fmt::format("{}: a record is left out: {}", source_.url, first)
                : fmt::format(
                      "{}: {} records are left out, the first: {}", source_.url, left_out_, first));
    }

    const IndexSource& source_;
    ChannelIndexBuilder builder_;
    std::string base_url_;
    std::unordered_set<std::string> v3_files_;
    std::size_t left_out_ = 0;
    std::string first_left_out_;
};

}  // namespace

Result<ChannelIndex> read_repodata(std::string text, const IndexSource& source) {
    const auto refusal = [&](std::string_view reason) {
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: {}", source.url, printable(reason, kLongestReason)),
            "the index is damaged or not one that can be trusted: fetch it again, or tell the "
            "channel's maintainers");
    };
    if (trim(text).empty()) text = "{}";
    if (text.size() > kLargestIndex) return refusal("longer than 4 GiB");
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    try {
        json::parser parser;
        const auto document = parser.parse(text).value();
        RepodataReader reader(source);
        reader.read(document);
        return std::move(reader).finish();
    } catch (const Malformed& problem) {
        if (!problem.is_newer) return refusal(problem.reason);
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: {}", source.url, problem.reason),
                    "a newer gpkg is needed to read it");
    } catch (const simdjson::simdjson_error& problem) {
        return refusal(fmt::format("not valid JSON, or cut off: {}", problem.what()));
    }
}

Result<ChannelIndex> read_repodata_file(const fs::path& path, const IndexSource& source) {
    GPKG_TRY(auto bytes, read_file(path));
    constexpr std::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);
    if (path.extension() == ".zst" || bytes.starts_with(kZstdMagic)) {
        const auto most =
            std::min(kLargestIndex, std::max(kSmallIndex, bytes.size() * kMostPerByte));
        GPKG_TRY(bytes, zstd_decompress(bytes, source.url, most));
    }
    return read_repodata(std::move(bytes), source);
}

}  // namespace gpkg
