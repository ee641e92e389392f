#pragma once

// The records of one channel and subdir in the form a solve works on: strings and dependency specs
// interned, the records of a name contiguous. Flat tables of plain values throughout, so that the
// same layout can be written to a file and mapped back.

#include "libcore/base/error.hpp"
#include "libcore/spec/package_record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gpkg {

/// Where an index came from.
struct IndexSource {
    std::string channel;  ///< base URL without trailing slash
    std::string subdir;
    std::string url;  ///< of the repodata; relative base_urls are resolved against it (CEP 15)
};

class ChannelIndex {
public:
    ChannelIndex(ChannelIndex&&) = default;
    ChannelIndex& operator=(ChannelIndex&&) = default;
    ChannelIndex(const ChannelIndex&) = delete;
    ChannelIndex& operator=(const ChannelIndex&) = delete;
    ~ChannelIndex() = default;

    /// A piece of the text pool.
    struct Text {
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
    };
    /// A run of entries of one of the list tables.
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t size = 0;
    };
    /// An extra of a record (CEP 44): a group and the specs it adds.
    struct Extra {
        Text group;
        Range specs;
    };
    struct Row {
        Text name, version, build, fn;
        Text md5, sha256, license, license_family, python_site_packages_path;
        Text noarch;
        Range depends;         ///< of spec_ids()
        Range constrains;      ///< of spec_ids()
        Range extras;          ///< of extras()
        Range flags;           ///< of texts()
        Range track_features;  ///< of texts()
        std::uint64_t build_number = 0;
        std::uint64_t size = 0;
        std::int64_t timestamp = 0;
        std::int64_t indexed_timestamp = 0;
        bool has_site_packages_path = false;

        /// When the channel got it, as far as that is known: Unix milliseconds.
        std::int64_t appeared() const {
            return indexed_timestamp != 0 ? indexed_timestamp : timestamp;
        }
    };

    const IndexSource& source() const { return source_; }
    std::size_t record_count() const { return rows_.size(); }
    /// Every package name, sorted.
    std::span<const std::string_view> names() const { return names_; }
    /// The rows of one name; empty when the index has none. Sorted by file name, of two forms of
    /// one package the .conda first.
    std::span<const Row> rows(std::string_view name) const;
    /// Those of them that may be chosen: none that appeared after `newest` (Unix milliseconds), and
    /// no .tar.bz2 beside a .conda of the same package.
    std::vector<const Row*> choices(std::string_view name,
                                    std::optional<std::int64_t> newest) const;

    std::string_view text(Text piece) const { return {pool_.data() + piece.offset, piece.size}; }
    std::span<const std::uint32_t> spec_ids(Range range) const {
        return std::span(spec_ids_).subspan(range.begin, range.size);
    }
    std::size_t spec_count() const { return specs_.size(); }
    /// The text of a dependency spec.
    std::string_view spec(std::uint32_t id) const { return text(specs_[id]); }
    std::span<const Extra> extras(Range range) const {
        return std::span(extras_).subspan(range.begin, range.size);
    }
    std::span<const Text> texts(Range range) const {
        return std::span(texts_).subspan(range.begin, range.size);
    }

    /// The whole record, for output and installation.
    PackageRecord record(const Row& row) const;
    /// Where the artifact is: base_url (CEP 15) joined with the file name.
    std::string url(const Row& row) const;

    /// What the user should hear about the index, fit for a terminal: records that are left out,
    /// repodata revisions gpkg does not know (CEP 48).
    std::span<const std::string> notes() const { return notes_; }

private:
    friend class ChannelIndexBuilder;
    ChannelIndex() = default;
    IndexSource source_;
    std::string base_url_;
    std::vector<char> pool_;  // not a string: views into it survive a move
    std::vector<Row> rows_;   ///< sorted by name, then file name
    std::vector<std::string_view> names_;
    std::unordered_map<std::string_view, Range> by_name_;
    std::vector<Text> specs_;
    std::vector<std::uint32_t> spec_ids_;
    std::vector<Extra> extras_;
    std::vector<Text> texts_;
    std::vector<std::string> notes_;
};

/// Fills a ChannelIndex record by record.
class ChannelIndexBuilder {
public:
    explicit ChannelIndexBuilder(IndexSource source);

    /// Interned where the same text is likely to come again.
    ChannelIndex::Text intern(std::string_view text);
    ChannelIndex::Text append(std::string_view text);
    /// The list of specs just parsed, interned one by one.
    ChannelIndex::Range add_specs(std::span<const std::string_view> specs);
    ChannelIndex::Range add_texts(std::span<const std::string_view> texts);
    ChannelIndex::Range add_extras(std::span<const ChannelIndex::Extra> extras);
    void add_row(const ChannelIndex::Row& row) { index_.rows_.push_back(row); }
    /// A withdrawn file: no record of it stays, whenever it is added.
    void remove(std::string_view fn) { removed_.emplace(fn); }
    void set_base_url(std::string url) { index_.base_url_ = std::move(url); }
    void add_note(std::string note) { index_.notes_.push_back(std::move(note)); }

    /// Sorts; refuses a pool beyond 4 GiB.
    Result<ChannelIndex> finish() &&;

private:
    std::uint32_t spec_id(std::string_view spec);

    ChannelIndex index_;
    std::unordered_map<std::string, ChannelIndex::Text> interned_;
    std::unordered_map<std::string, std::uint32_t> spec_ids_;
    std::unordered_set<std::string> removed_;
};

}  // namespace gpkg
