#include "libcore/index/repodata.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/index/base_url_internal.hpp"
#include "libcore/index/json_splitter_internal.hpp"
#include "libcore/index/record_reading_internal.hpp"

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
        if (is_null(document)) wrong_type("the top level", "a map", document);
        Result<void> done;
        for_each_member(document, "the top level", [&](std::string_view key, json::element value) {
            if (reopened < 2) top_keys_(kept(key));
            if (done) done = read_part(key, value, reopened);
            reopened = 0;
        });
        return done;
    }

    void finish() {
        if (auto note = left_out_.note()) writer_.add_note(*std::move(note));
    }

private:
    static constexpr std::string_view kConda = ".conda";
    static constexpr std::string_view kTarBz2 = ".tar.bz2";

    Result<void> read_part(std::string_view key, json::element value, int reopened) {
        if (key == "packages") return read_packages(key, value, kTarBz2, false);
        if (key == "packages.conda") return read_packages(key, value, kConda, false);
        if (key == "v3") return read_v3(value, reopened);
        if (key == "info") read_info(value);
        if (key == "repodata_version") check_version(value);
        if (key == "removed") {
            std::vector<std::string_view> names;
            if (const auto fault = read_removed(value, names); !fault.empty())
                left_out_.add(key, fault);
            for (const auto fn : names) writer_.remove(fn);
        }
        return {};
    }

    static void check_version(json::element value) {
        const auto version = number_of("repodata_version", value);
        if (version > 2)
            throw Malformed{
                fmt::format("unsupported repodata_version {} (this gpkg supports up to 2)",
                            version),
                true};
    }

    void read_info(json::element value) {
        for_each_member(value, "info", [&](std::string_view key, json::element item) {
            info_keys_(kept(key));
            if (key == "base_url") {
                const auto base_url = text_of(key, item);
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
        });
    }

    void read_relations(json::element value) {
        if (is_null(value)) return;
        ChannelRelations relations;
        OnlyOnce once("in channel_relations");
        for_each_member(
            value, "channel_relations", [&](std::string_view key, json::element channel) {
                once(key);
                if (key == "base") relations.base = text_of(key, channel);
                if (key == "overrides") relations.overrides = text_of(key, channel);
            });
        writer_.set_relations(std::move(relations));
    }

    /// CEP 48: says how many records of which newer form this gpkg leaves out.
    void read_revisions(json::element value) {
        if (value.type() != json::element_type::OBJECT) return;
        const std::string_view what = "repodata_revisions";
        for_each_member(value, what, [&](std::string_view revision, json::element about) {
            if (revision == "v3" || about.type() != json::element_type::OBJECT) return;
            std::uint64_t count = 0;
            std::string_view message;
            for_each_member(about, revision, [&](std::string_view key, json::element detail) {
                if (key == "n_packages") count = number_of(key, detail);
                if (key == "message") message = text_of(key, detail);
            });
            writer_.add_note(note_on_newer(revision, count, message));
        });
    }

    Result<void> read_v3(json::element value, int reopened) {
        Result<void> done;
        for_each_member(value, "v3", [&](std::string_view extension, json::element packages) {
            if (reopened < 3) v3_keys_(kept(extension));
            reopened = 0;
            if (!done) return;
            if (extension == "conda") {
                done = read_packages("v3.conda", packages, kConda, true);
            } else if (extension == "tar.bz2") {
                done = read_packages("v3.tar.bz2", packages, kTarBz2, true);
            }
        });
        return done;
    }

    Result<void> read_packages(std::string_view map,
                               json::element value,
                               std::string_view extension,
                               bool v3) {
        Result<void> done;
        for_each_member(value, map, [&](std::string_view key, json::element item) {
            if (done) done = read_package(key, item, extension, v3);
        });
        return done;
    }

    Result<void> read_package(std::string_view key,
                              json::element value,
                              std::string_view extension,
                              bool v3) {
        fn_ = key;
        if (v3 && fn_.ends_with(extension)) {
            left_out_.add(fn_, "its key must not have the extension");
            return {};
        }
        if (v3) fn_ += extension;
        record_.clear();
        record_.is_conda = is_conda_file(fn_, extension);
        record_.is_v3 = v3;
        const auto digest = [&](std::string_view name, json::element hex, std::size_t size) {
            return digest_of(name, hex, size, size == 16 ? md5_ : sha256_);
        };
        const auto fault = read_record(value, fn_, record_, digest);
        if (fault.empty()) return writer_.add(record_);
        left_out_.add(fn_, fault);
        return {};
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
    std::string md5_, sha256_;
};

/// Maps whose members are records may be cut between two of them.
int depth_of(std::string_view top_level_key) { return top_level_key == "v3" ? 3 : 2; }

tl::unexpected<Error> refusal(const IndexSource& source, std::string_view reason) {
    return fail(ErrorKind::Integrity,
                fmt::format("{}: {}", source.url, printable(reason, kLongestReason)),
                "run the command again, or report it to the channel's maintainers");
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
    IndexWriter writer(folder_for_temporary());
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
                    "use a newer gpkg");
    } catch (const simdjson::simdjson_error& problem) {
        if (problem.error() == simdjson::NUMBER_ERROR)
            return refusal(source, "a number is invalid or too large");
        return refusal(source, fmt::format("invalid or truncated JSON: {}", problem.what()));
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
