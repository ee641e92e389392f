#include "libcore/index/index_writer.hpp"

#include "libcore/index/index_format_internal.hpp"
#include "libcore/index/reading_internal.hpp"
#include "libcore/index/segment_internal.hpp"
#include "libcore/index/spool_internal.hpp"
#include "libcore/index/text_table_internal.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace gpkg {
namespace {

using namespace index_format;
using Number = TextTable::Number;

/// Records of one name that stand together in the spool.
struct Run {
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t next = 0;  ///< the next run of that name, plus 1
};

}  // namespace

struct IndexWriter::State {
    explicit State(fs::path scratch) : spool(std::move(scratch)) {}

    TextTable names;
    TextTable specs;
    std::vector<Number> spec_name;         ///< by spec
    std::vector<std::uint32_t> first_run;  ///< by name: of `runs`, plus 1
    std::vector<std::uint32_t> last_run;   ///< by name
    std::vector<Run> runs;
    Spool spool;
    TextTable removed;
    std::string base_url;
    ChannelRelations relations;
    std::vector<std::string> notes;
    std::string encoded;  ///< the record at hand

    Number add_name(std::string_view name) {
        const auto number = names.add(name);
        if (number == first_run.size()) {
            first_run.push_back(0);
            last_run.push_back(0);
        }
        return number;
    }

    Number add_spec(std::string_view text) {
        const auto number = specs.add(text);
        if (number == spec_name.size()) spec_name.push_back(add_name(name_in_spec(text)));
        return number;
    }

    Result<void> put_aside(Number name) {
        GPKG_TRY(const auto offset, spool.append(encoded));
        const auto size = static_cast<std::uint32_t>(encoded.size());
        if (!runs.empty() && last_run[name] == runs.size() &&
            runs.back().offset + runs.back().size == offset && runs.back().size < kLongestRun) {
            runs.back().size += size;
            return {};
        }
        runs.push_back({offset, size, 0});
        const auto place = static_cast<std::uint32_t>(runs.size());
        if (first_run[name] == 0) {
            first_run[name] = place;
        } else {
            runs[last_run[name] - 1].next = place;
        }
        last_run[name] = place;
        return {};
    }

    /// Reads back what was put aside of one name.
    Result<void> read_records(Number name, SegmentBuilder& into) const {
        std::string memory;
        for (auto run = first_run[name]; run != 0; run = runs[run - 1].next) {
            GPKG_TRY(const auto bytes,
                     spool.read(runs[run - 1].offset, runs[run - 1].size, memory));
            into.add_records(bytes);
        }
        return {};
    }

    static constexpr std::uint32_t kLongestRun = 64U << 20U;
};

IndexWriter::IndexWriter(fs::path scratch) : state_(std::make_unique<State>(std::move(scratch))) {}
IndexWriter::IndexWriter(IndexWriter&&) noexcept = default;
IndexWriter& IndexWriter::operator=(IndexWriter&&) noexcept = default;
IndexWriter::~IndexWriter() = default;

void IndexWriter::remove(std::string_view fn) { state_->removed.add(fn); }
void IndexWriter::set_base_url(std::string_view base_url) { state_->base_url = base_url; }
void IndexWriter::set_relations(ChannelRelations relations) {
    state_->relations = std::move(relations);
}
void IndexWriter::add_note(std::string note) { state_->notes.push_back(std::move(note)); }

Result<void> IndexWriter::add(const IndexRecord& record) {
    auto& state = *state_;
    const auto name = state.add_name(record.name);
    state.encoded.clear();
    encode_record(
        record, [&](std::string_view spec) { return state.add_spec(spec); }, state.encoded);
    return state.put_aside(name);
}

Result<void> IndexWriter::finish(const IndexOrigin& origin, const Sink& sink) && {
    auto& state = *state_;
    const auto count = static_cast<Number>(state.names.size());
    std::vector<Number> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        return state.names.text(a) < state.names.text(b);
    });

    // Specs are numbered by the name they are about, then by text.
    std::vector<std::vector<Number>> specs_of(count);
    for (Number spec = 0; spec < state.spec_name.size(); ++spec)
        specs_of[state.spec_name[spec]].push_back(spec);
    std::vector<Number> final_number(state.spec_name.size());
    Number next = 0;
    for (const auto name : order) {
        auto& specs = specs_of[name];
        std::sort(specs.begin(), specs.end(), [&](auto a, auto b) {
            return state.specs.text(a) < state.specs.text(b);
        });
        for (const auto spec : specs) final_number[spec] = next++;
    }

    std::uint64_t written = 0;
    const auto put = [&](std::string_view bytes) -> Result<void> {
        written += bytes.size();
        return sink(bytes);
    };
    GPKG_CHECK(put({kMagic.data(), kMagic.size()}));
    Footer footer;
    footer.origin = origin;
    footer.specs = next;
    std::string texts;
    const auto directory_text = [&](std::string_view text) {
        const ChannelIndex::Text piece{static_cast<std::uint32_t>(texts.size()),
                                       static_cast<std::uint32_t>(text.size())};
        texts += text;
        return piece;
    };
    std::string directory;
    repodata::LeftOutRecords left_out;
    next = 0;
    for (const auto name : order) {
        SegmentBuilder segment(state.names.text(name), final_number, next);
        for (const auto spec : specs_of[name]) segment.add_spec(state.specs.text(spec));
        GPKG_CHECK(state.read_records(name, segment));
        GPKG_TRY(const auto built, std::move(segment).finish(state.removed));
        for (const auto& fn : built.repeated)
            left_out.add(fn, "duplicate; its last record is used");
        Entry entry;
        entry.offset = written;
        entry.checksum = checksum(built.bytes);
        entry.size = static_cast<std::uint32_t>(built.bytes.size());
        entry.rows = built.rows;
        entry.first_spec = next;
        entry.name = directory_text(state.names.text(name));
        directory += bytes_of(entry);
        footer.records += built.rows;
        next += static_cast<Number>(specs_of[name].size());
        GPKG_CHECK(put(built.bytes));
    }
    if (auto note = left_out.note()) state.notes.push_back(*std::move(note));
    for (const auto& note : state.notes) directory += bytes_of(directory_text(note));
    footer.base_url = directory_text(state.base_url);
    footer.base = directory_text(state.relations.base);
    footer.overrides = directory_text(state.relations.overrides);
    footer.texts_at = directory.size();
    directory += texts;
    directory.resize((directory.size() + 7) / 8 * 8);
    footer.directory = written;
    footer.directory_size = directory.size();
    footer.directory_checksum = checksum(directory);
    footer.names = count;
    footer.notes = static_cast<std::uint32_t>(state.notes.size());
    footer.file_size = written + directory.size() + sizeof(Footer);
    footer.checksum = checksum(bytes_of(footer).substr(0, offsetof(Footer, checksum)));
    GPKG_CHECK(put(directory));
    return put(bytes_of(footer));
}

}  // namespace gpkg
