#include "libcore/index/repodata.hpp"

#include "libcore/base/text.hpp"
#include "libcore/index/base_url_internal.hpp"
#include "libcore/index/fields_internal.hpp"
#include "libcore/index/json_splitter_internal.hpp"
#include "libcore/index/record_rules_internal.hpp"

#include <array>
#include <deque>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

using namespace repodata;

/// Below this a document is unpacked whatever its ratio is. Real indexes, full of checksums, unpack
/// to 5 to 30 times their size.
constexpr UnpackLimit kUnpackLimit{std::uint64_t{256} << 20U, 1000};

static_assert(JsonSplitter::kPadding >= simdjson::SIMDJSON_PADDING);

/// Reads the pieces of one document, in their order.
class RepodataReader {
public:
    RepodataReader(const IndexSource& source, IndexWriter& writer)
        : source_(source), writer_(writer) {}

    /// `reopened`: how many maps, from the outermost in, an earlier piece began.
    Result<void> read(json::element document, int reopened) {
        if (document.type() != json::element_type::OBJECT) refuse("the top level should be a map");
        for (auto field : as_map(document)) {
            const std::string_view key = field.key;
            const json::element value = field.value;
            if (reopened < 2) top_keys_(kept(key));
            if (key == "info") {
                read_info(value);
            } else if (key == "repodata_version") {
                check_version(value);
            } else if (key == "packages") {
                GPKG_CHECK(read_packages(key, value, kTarBz2, false));
            } else if (key == "packages.conda") {
                GPKG_CHECK(read_packages(key, value, kConda, false));
            } else if (key == "v3") {
                GPKG_CHECK(read_v3(value, reopened));
            } else if (key == "removed") {
                for (const auto fn : Fields{"removed"}.list("removed", value)) writer_.remove(fn);
            }
            reopened = 0;
        }
        return {};
    }

    void finish() {
        if (auto note = left_out_.note()) writer_.add_note(*std::move(note));
    }

private:
    static constexpr std::string_view kConda = ".conda";
    static constexpr std::string_view kTarBz2 = ".tar.bz2";

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
        for (auto field : as_map(value)) {
            const std::string_view key = field.key;
            info_keys_(kept(key));
            json::element item = field.value;
            if (key == "base_url") {
                const auto base_url = fields.text(key, item);
                if (auto folder = artifact_folder(source_.url, base_url); !folder)
                    refuse(std::move(folder).error().message);
                writer_.set_base_url(base_url);
            } else if (key == "repodata_version") {
                check_version(item);
            } else if (key == "repodata_revisions") {
                read_revisions(item);
            } else if (key == "channel_relations") {
                read_relations(item);
            }
        }
    }

    void read_relations(json::element value) {
        const Fields fields{"channel_relations"};
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT)
            fields.wrong("channel_relations", "a map", value);
        ChannelRelations relations;
        OnlyOnce once("in channel_relations");
        for (auto field : as_map(value)) {
            const std::string_view key = field.key;
            once(key);
            if (key == "base") relations.base = fields.text(key, field.value);
            if (key == "overrides") relations.overrides = fields.text(key, field.value);
        }
        writer_.set_relations(std::move(relations));
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
            writer_.add_note(note_on_newer(revision, count, message));
        }
    }

    Result<void> read_v3(json::element value, int reopened) {
        if (value.type() == json::element_type::NULL_VALUE) return {};
        if (value.type() != json::element_type::OBJECT) Fields{"v3"}.wrong("v3", "a map", value);
        for (auto field : as_map(value)) {
            const std::string_view extension = field.key;
            if (reopened < 3) v3_keys_(kept(extension));
            reopened = 0;
            if (extension == "conda") {
                GPKG_CHECK(read_packages("v3.conda", field.value, kConda, true));
            } else if (extension == "tar.bz2") {
                GPKG_CHECK(read_packages("v3.tar.bz2", field.value, kTarBz2, true));
            }
        }
        return {};
    }

    Result<void> read_packages(std::string_view map,
                               json::element value,
                               std::string_view extension,
                               bool v3) {
        if (value.type() == json::element_type::NULL_VALUE) return {};
        if (value.type() != json::element_type::OBJECT) Fields{map}.wrong(map, "a map", value);
        for (auto field : as_map(value)) {
            fn_ = field.key;
            json::element item = field.value;
            if (v3) {
                if (fn_.ends_with(extension)) {
                    left_out_.add(fn_, "its key should be without the extension");
                    continue;
                }
                fn_ += extension;
            }
            if (item.type() != json::element_type::OBJECT)
                refuse(fmt::format("{}: should be a map, not {}", fn_, type_name(item.type())));
            record_.clear();
            record_.is_conda = extension == kConda;
            record_.is_v3 = v3;
            read_record(as_map(item));
            if (auto fault = fault_of(record_, fn_, map); !fault.empty()) {
                left_out_.add(fn_, fault);
            } else {
                GPKG_CHECK(writer_.add(record_));
            }
        }
        return {};
    }

    void read_record(json::object object) {
        const Fields fields{fn_};
        std::uint32_t seen = 0;
        for (auto field : object) {
            const std::string_view name = field.key;
            const auto key = key_of(name);
            if (key == Key::Other) continue;
            const auto bit = 1U << static_cast<unsigned>(key);
            if ((seen & bit) != 0)
                refuse(fmt::format("{}: the key '{}' stands there twice", fn_, name));
            seen |= bit;
            read_field(fields, key, name, field.value);
        }
    }

    void read_field(const Fields& fields, Key key, std::string_view name, json::element value) {
        auto& record = record_;
        const auto text = [&] { return fields.text(name, value); };
        switch (key) {
        case Key::Build: record.build = text(); break;
        case Key::BuildNumber: record.build_number = fields.number(name, value); break;
        case Key::Constrains: fields.list(name, value, record.constrains); break;
        case Key::Depends: fields.list(name, value, record.depends); break;
        case Key::ExtraDepends: read_extras(fields, value); break;
        case Key::Flags: fields.list(name, value, record.flags); break;
        case Key::IndexedTimestamp: record.indexed_timestamp = fields.moment(name, value); break;
        case Key::License: record.license = text(); break;
        case Key::LicenseFamily: record.license_family = text(); break;
        case Key::Md5: record.md5 = fields.digest(name, value, md5_); break;
        case Key::Name: record.name = text(); break;
        case Key::Noarch: record.noarch = fields.noarch(value); break;
        case Key::PythonSitePackagesPath:
            if (value.type() != json::element_type::NULL_VALUE)
                record.python_site_packages_path = text();
            break;
        case Key::Sha256: record.sha256 = fields.digest(name, value, sha256_); break;
        case Key::Size: record.size = fields.number(name, value); break;
        case Key::Timestamp: record.timestamp = fields.moment(name, value); break;
        case Key::TrackFeatures: fields.features(value, record.track_features); break;
        case Key::Version: record.version = text(); break;
        case Key::Other: break;
        }
    }

    void read_extras(const Fields& fields, json::element value) {
        if (value.type() == json::element_type::NULL_VALUE) return;
        if (value.type() != json::element_type::OBJECT)
            fields.wrong("extra_depends", "a map", value);
        OnlyOnce once("in extra_depends");
        for (auto field : as_map(value)) {
            const std::string_view group = field.key;
            once(group);
            record_.extras.push_back({group, {}});
            fields.list("extra_depends", field.value, record_.extras.back().specs);
        }
    }

    /// For keys that are compared with those of later pieces.
    std::string_view kept(std::string_view key) { return kept_keys_.emplace_back(key); }

    const IndexSource& source_;
    IndexWriter& writer_;
    std::deque<std::string> kept_keys_;
    OnlyOnce top_keys_{"at the top"};
    OnlyOnce info_keys_{"in info"};
    OnlyOnce v3_keys_{"in v3"};
    LeftOutRecords left_out_;

    // The record at hand.
    std::string fn_;
    IndexRecord record_;
    std::array<char, 16> md5_{};
    std::array<char, 32> sha256_{};
};

/// Maps whose members are records may be cut between two of them.
int depth_of(std::string_view top_level_key) { return top_level_key == "v3" ? 3 : 2; }

tl::unexpected<Error> refusal(const IndexSource& source, std::string_view reason) {
    return fail(ErrorKind::Integrity,
                fmt::format("{}: {}", source.url, printable(reason, kLongestReason)),
                "the index is damaged or not one that can be trusted: fetch it again, or tell the "
                "channel's maintainers");
}

Result<void> read_pieces(JsonSplitter& splitter, RepodataReader& reader) {
    json::parser parser;
    bool is_first = true;
    while (true) {
        GPKG_TRY(const auto piece, splitter.next());
        if (!piece) return {};
        // An empty file is an index without records (CEP 36).
        if (std::exchange(is_first, false) && trim(piece->text).empty()) continue;
        const auto document = parser.parse(piece->text.data(), piece->text.size(), false).value();
        GPKG_CHECK(reader.read(document, piece->reopened));
    }
}

/// What the splitter and the writer say of a document is said without its name.
Error about(const IndexSource& source, Error error) {
    if (error.kind != ErrorKind::Integrity || error.message.starts_with(source.url)) return error;
    return refusal(source, error.message).value();
}

Result<ChannelIndex> in_memory(ByteSource json, const IndexSource& source) {
    IndexWriter writer(fs::temp_directory_path());
    GPKG_CHECK(read_repodata(std::move(json), source, writer));
    GPKG_TRY(auto bytes, index_bytes(std::move(writer), {}, source));
    return ChannelIndex::from_bytes(std::move(bytes), source);
}

}  // namespace

Result<void> read_repodata(ByteSource json, const IndexSource& source, IndexWriter& writer) {
    JsonSplitter::Options options;
    options.depth_of = depth_of;
    JsonSplitter splitter(std::move(json), options);
    RepodataReader reader(source, writer);
    try {
        auto done = read_pieces(splitter, reader);
        if (!done) return pass(about(source, std::move(done).error()));
        reader.finish();
        return {};
    } catch (const Malformed& problem) {
        if (!problem.is_newer) return refusal(source, problem.reason);
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: {}", source.url, problem.reason),
                    "a newer gpkg is needed to read it");
    } catch (const simdjson::simdjson_error& problem) {
        return refusal(source, fmt::format("not valid JSON, or cut off: {}", problem.what()));
    }
}

ByteSource repodata_source(ByteSource bytes, const IndexSource& source) {
    return unpacked_source(std::move(bytes), source.url, kUnpackLimit);
}

Result<ByteSource> repodata_source(const fs::path& path, const IndexSource& source) {
    GPKG_TRY(auto bytes, file_source(path));
    return repodata_source(std::move(bytes), source);
}

Result<void> write_index(IndexWriter&& writer,
                         const IndexOrigin& origin,
                         const IndexSource& source,
                         const IndexWriter::Sink& sink) {
    auto written = std::move(writer).finish(origin, sink);
    if (!written) return pass(about(source, std::move(written).error()));
    return {};
}

Result<std::string> index_bytes(IndexWriter&& writer,
                                const IndexOrigin& origin,
                                const IndexSource& source) {
    std::string bytes;
    GPKG_CHECK(write_index(std::move(writer), origin, source, [&](std::string_view part) {
        bytes += part;
        return Result<void>{};
    }));
    return bytes;
}

Result<ChannelIndex> read_repodata(std::string json, const IndexSource& source) {
    return in_memory(text_source(std::move(json)), source);
}

Result<ChannelIndex> read_repodata_file(const fs::path& path, const IndexSource& source) {
    GPKG_TRY(auto bytes, repodata_source(path, source));
    return in_memory(std::move(bytes), source);
}

}  // namespace gpkg
