#pragma once

// The records of one channel and subdir in the form a solve works on: one immutable block of bytes,
// usually a mapped file, in which the records of a name stand together, best first, and every
// distinct dependency spec once. Opening it looks at the list of names alone; what is asked of it
// is checked against damage when it is first touched.

#include "libcore/base/error.hpp"
#include "libcore/fs/descriptor.hpp"
#include "libcore/index/channel_relations.hpp"
#include "libcore/index/index_record.hpp"
#include "libcore/spec/package_record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

namespace index_format {
struct Entry;
struct Footer;
}  // namespace index_format

/// Where an index came from.
struct IndexSource {
    std::string channel;  ///< base URL without trailing slash
    std::string subdir;
    std::string url;  ///< of the repodata; relative base_urls are resolved against it (CEP 15)
};

/// What an index was made of: a checksum, so that it is known when it has to be made anew.
using IndexOrigin = std::array<std::uint8_t, 32>;

class NameRecords;

class ChannelIndex {
public:
    /// A piece of text.
    struct Text {
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
    };
    /// A list of one name's segment; 0 is the empty one. Equal lists of a name are the same list.
    using List = std::uint32_t;
    /// A dependency spec, by its number in this index.
    using SpecNumber = std::uint32_t;
    /// A group of extra dependencies (CEP 44).
    struct Extra {
        Text group;
        List specs = 0;
    };
    static constexpr std::uint32_t kNoTwin = 0xffffffff;

    /// A record. Its texts and lists are read by the NameRecords it was found in.
    struct Row {
        std::uint64_t build_number = 0;
        std::uint64_t size = 0;
        std::int64_t timestamp = 0;
        std::int64_t indexed_timestamp = 0;
        Text build, license, license_family, python_site_packages_path;
        std::uint32_t version = 0;  ///< of the versions of its name
        List depends = 0;           ///< of specs
        List constrains = 0;        ///< of specs
        List extras = 0;            ///< of extras
        List flags = 0;             ///< of texts
        List track_features = 0;    ///< of texts
        std::uint32_t twin =
            kNoTwin;  ///< of a .tar.bz2 the row with the .conda of the same package
        std::array<std::uint8_t, 16> md5{};
        std::array<std::uint8_t, 32> sha256{};
        Noarch noarch = Noarch::No;
        bool is_conda = true;
        bool has_md5 = false;
        bool has_sha256 = false;
        bool has_site_packages_path = false;
        std::array<std::uint8_t, 7> unused{};

        /// When the channel got it, as far as that is known: Unix milliseconds.
        std::int64_t appeared() const {
            return indexed_timestamp != 0 ? indexed_timestamp : timestamp;
        }
    };

    /// Maps the file. Integrity when it is not one that this gpkg wrote whole, was made of
    /// something else than `origin`, or of a base_url that leads astray.
    static Result<ChannelIndex> open(const fs::path& file,
                                     IndexSource source,
                                     const std::optional<IndexOrigin>& origin);
    /// The same of bytes in memory.
    static Result<ChannelIndex> from_bytes(std::string bytes, IndexSource source);

    const IndexSource& source() const { return source_; }
    std::size_t record_count() const;
    /// One more than the highest number of a spec.
    std::size_t spec_count() const;
    /// Every name that the channel has records of, sorted; `has` tells which of them are here.
    std::vector<std::string_view> names() const;
    bool has(std::string_view name) const;
    /// For an index that holds the records of some names: `list` tells all names, sorted, when
    /// they are first asked for, or none when it cannot.
    using ListNames = std::function<std::vector<std::string>()>;
    void list_names_with(ListNames list);

    /// All about one name; no rows when the index has none. DamagedCache: the file was
    /// damaged after it was made. It is removed then, so that the next open makes it anew.
    Result<NameRecords> find(std::string_view name) const;

    /// The numbers of all specs on `name`: the first, and one more than the last. Those that name
    /// no package, being patterns or beyond reading, are on the empty name.
    std::pair<SpecNumber, SpecNumber> specs_on(std::string_view name) const;
    /// Every name of a record here, and every one that a spec is on; sorted.
    std::vector<std::string_view> mentioned_names() const;

    /// The text of a dependency spec. Errors as find's.
    Result<std::string_view> spec(SpecNumber number) const;

    /// The whole record, for output and installation. Errors as find's.
    Result<PackageRecord> record(const NameRecords& of, const Row& row) const;

    /// Where an artifact is: base_url (CEP 15) joined with the file name.
    std::string url(std::string_view fn) const { return folder_ + std::string(fn); }

    const ChannelRelations& relations() const { return relations_; }

    /// What the user should hear about the index, fit for a terminal: records that are left out,
    /// repodata revisions gpkg does not know (CEP 48).
    const std::vector<std::string>& notes() const { return notes_; }

private:
    struct Storage;
    ChannelIndex(std::shared_ptr<const Storage> storage, IndexSource source);
    static Result<ChannelIndex> open(std::shared_ptr<const Storage> storage,
                                     IndexSource source,
                                     const std::optional<IndexOrigin>& origin);
    const index_format::Footer& footer() const;
    std::span<const index_format::Entry> entries() const;
    std::string_view directory_text(Text piece) const;
    const index_format::Entry* entry_of(std::string_view name) const;
    Result<const char*> checked(const index_format::Entry& entry) const;

    std::shared_ptr<const Storage> storage_;
    IndexSource source_;
    std::string folder_;
    ChannelRelations relations_;
    std::vector<std::string> notes_;
    mutable std::vector<bool> is_checked_;  ///< by entry; an index is used by one thread at a time
    mutable ListNames list_names_;          ///< empty once it was asked
    mutable std::vector<std::string> listed_names_;
};

/// What an index has about one name. Borrows from the index.
class NameRecords {
public:
    using Text = ChannelIndex::Text;
    using Row = ChannelIndex::Row;

    NameRecords() = default;

    std::string_view name() const { return name_; }
    /// Best first by the keys that no request changes: readable versions before others, without
    /// track_features before with, then the higher version, the higher build number, the newer
    /// timestamp, .conda before .tar.bz2, and what makes the order total.
    std::span<const Row> rows() const { return rows_; }
    /// Those that may be chosen: none that appeared after `newest` (Unix milliseconds), and no
    /// .tar.bz2 beside a .conda of the same package.
    std::vector<const Row*> choices(std::optional<std::int64_t> newest) const;

    std::string_view text(Text piece) const { return {texts_ + piece.offset, piece.size}; }
    std::string_view version(const Row& row) const { return text(versions_[row.version]); }
    /// How many distinct versions the rows have; Row::version is less.
    std::size_t version_count() const { return versions_.size(); }
    std::string_view build(const Row& row) const { return text(row.build); }
    std::string fn(const Row& row) const;

    std::span<const ChannelIndex::SpecNumber> specs(ChannelIndex::List list) const {
        return items<ChannelIndex::SpecNumber>(list);
    }
    std::span<const Text> texts(ChannelIndex::List list) const { return items<Text>(list); }
    std::span<const ChannelIndex::Extra> extras(ChannelIndex::List list) const {
        return items<ChannelIndex::Extra>(list);
    }

private:
    friend class ChannelIndex;
    NameRecords(std::string_view name, const char* segment);

    /// A list begins with its length.
    template <typename T>
    std::span<const T> items(ChannelIndex::List list) const {
        if (list == 0) return {};
        const auto* begin = lists_ + list;
        return {reinterpret_cast<const T*>(begin + 1), *begin};
    }
    std::string_view spec(ChannelIndex::SpecNumber number) const {
        return text(specs_[number - first_spec_]);
    }

    std::string_view name_;
    std::span<const Row> rows_;
    std::span<const Text> versions_;
    std::span<const Text> specs_;
    ChannelIndex::SpecNumber first_spec_ = 0;
    const std::uint32_t* lists_ = nullptr;
    const char* texts_ = nullptr;
};

}  // namespace gpkg
