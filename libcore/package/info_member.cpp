#include "libcore/package/info_member.hpp"

#include "libcore/fs/byte_source.hpp"
#include "libcore/package/archive_internal.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/zip_writer_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace gpkg {
namespace {

// Of a zip (PKWARE's APPNOTE): what stands before the texts of each structure.
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64LocatorSize = 20;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kMost16 = 0xFFFF;  // also: see the zip64 field
constexpr std::uint64_t kMost32 = 0xFFFFFFFF;

/// The little-endian number of `size` bytes at `at`, which must be there.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;)
        value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

/// One reading of the end of one archive.
class Tail {
public:
    Tail(std::string_view bytes, std::uint64_t archive_size, std::string_view what)
        : bytes_(bytes), archive_size_(archive_size), what_(what) {}

    Result<InfoMember> info_member() {
        if (bytes_.size() > archive_size_) return damaged("is longer than possible");
        GPKG_CHECK(find_directory());
        GPKG_TRY(const auto entries, entries_of_directory());
        const Entry* found = nullptr;
        for (const auto& entry : entries) {
            if (!entry.name.starts_with("info-") || !entry.name.ends_with(".tar.zst")) continue;
            if (found != nullptr) return damaged("has two info-*.tar.zst members");
            found = &entry;
        }
        if (found == nullptr) return damaged("has no info-*.tar.zst member");
        // It ends where the next begins.
        auto end = directory_;
        for (const auto& entry : entries) {
            if (entry.offset > found->offset) end = std::min(end, entry.offset);
        }
        return place_of(*found, end);
    }

private:
    struct Entry {
        std::string name;
        std::uint64_t offset = 0;
        std::uint64_t packed = 0;
        std::uint64_t unpacked = 0;
        std::uint32_t crc = 0;
        std::uint64_t method = 0;
        bool encrypted = false;
    };

    /// The last place where an end of the directory stands that ends with the archive.
    std::optional<std::size_t> end_of_directory() const {
        if (bytes_.size() < kEndSize) return std::nullopt;
        const auto last = bytes_.size() - kEndSize;
        for (std::size_t comment = 0; comment <= std::min(last, kMost16); ++comment) {
            const auto at = last - comment;
            if (bytes_.substr(at).starts_with("PK\5\6") && number(bytes_, at + 20, 2) == comment)
                return at;
        }
        return std::nullopt;
    }

    Result<void> find_directory() {
        const auto end = end_of_directory();
        if (!end) return damaged("has no zip directory");
        auto limit = *end;
        count_ = number(bytes_, *end + 10, 2);
        size_ = number(bytes_, *end + 12, 4);
        directory_ = number(bytes_, *end + 16, 4);
        if (count_ == kMost16 || size_ == kMost32 || directory_ == kMost32) {
            GPKG_TRY(limit, read_end64(*end));
        }
        const auto start = archive_size_ - bytes_.size();
        if (directory_ > start + limit || size_ > start + limit - directory_)
            return damaged("has a zip directory beyond its end");
        if (directory_ < start)
            return fail(
                ErrorKind::Unsupported,
                fmt::format(
                    "{}: the zip directory is not within the last {} bytes", what_, bytes_.size()));
        return {};
    }

    /// Reads the directory's place from the zip64 form of its end; where that stands.
    Result<std::size_t> read_end64(std::size_t end) {
        const auto start = archive_size_ - bytes_.size();
        const auto missing = [&] { return damaged("has no zip64 end of directory"); };
        if (end < kEnd64LocatorSize) return missing();
        const auto locator = end - kEnd64LocatorSize;
        if (!bytes_.substr(locator).starts_with("PK\6\7")) return missing();
        const auto place = number(bytes_, locator + 8, 8);
        if (place < start || place - start > locator || locator - (place - start) < kEnd64Size)
            return missing();
        const auto at = static_cast<std::size_t>(place - start);
        if (!bytes_.substr(at).starts_with("PK\6\6")) return missing();
        count_ = number(bytes_, at + 32, 8);
        size_ = number(bytes_, at + 40, 8);
        directory_ = number(bytes_, at + 48, 8);
        return at;
    }

    Result<std::vector<Entry>> entries_of_directory() const {
        const auto at = static_cast<std::size_t>(directory_ - (archive_size_ - bytes_.size()));
        auto left = bytes_.substr(at, static_cast<std::size_t>(size_));
        std::vector<Entry> entries;
        for (std::uint64_t i = 0; i < count_; ++i) {
            if (left.size() < kEntrySize || !left.starts_with("PK\1\2"))
                return damaged("has a truncated zip directory");
            const auto name = static_cast<std::size_t>(number(left, 28, 2));
            const auto extra = static_cast<std::size_t>(number(left, 30, 2));
            const auto comment = static_cast<std::size_t>(number(left, 32, 2));
            const auto size = kEntrySize + name + extra + comment;
            if (left.size() < size) return damaged("has a truncated zip directory");
            Entry entry;
            entry.encrypted = (number(left, 8, 2) & 1U) != 0;
            entry.method = number(left, 10, 2);
            entry.crc = static_cast<std::uint32_t>(number(left, 16, 4));
            entry.packed = number(left, 20, 4);
            entry.unpacked = number(left, 24, 4);
            entry.offset = number(left, 42, 4);
            entry.name = left.substr(kEntrySize, name);
            if (!widen(entry, left.substr(kEntrySize + name, extra)))
                return damaged("has a directory entry without zip64 field");
            entries.push_back(std::move(entry));
            left.remove_prefix(size);
        }
        return entries;
    }

    /// Takes from the zip64 field what the entry itself has no room for.
    static bool widen(Entry& entry, std::string_view extra) {
        const auto wants = [](std::uint64_t value) { return value == kMost32; };
        if (!wants(entry.packed) && !wants(entry.unpacked) && !wants(entry.offset)) return true;
        while (extra.size() >= 4) {
            const auto id = number(extra, 0, 2);
            auto field = extra.substr(4, static_cast<std::size_t>(number(extra, 2, 2)));
            extra.remove_prefix(4 + field.size());
            if (id != 1) continue;
            for (auto* value : {&entry.unpacked, &entry.packed, &entry.offset}) {
                if (!wants(*value)) continue;
                if (field.size() < 8) return false;
                *value = number(field, 0, 8);
                field.remove_prefix(8);
            }
            return true;
        }
        return false;
    }

    Result<InfoMember> place_of(const Entry& entry, std::uint64_t end) const {
        if (entry.encrypted || entry.method != 0 || entry.packed != entry.unpacked)
            return fail(
                ErrorKind::Unsupported,
                fmt::format("{}: {}: compressed in the zip, which the .conda format forbids",
                            what_,
                            printable(entry.name)));
        if (entry.packed > kMostInfoMember)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: {}: {} bytes exceed the limit of {} bytes",
                                    what_,
                                    printable(entry.name),
                                    entry.packed,
                                    kMostInfoMember));
        const auto least = kLocalSize + entry.name.size() + entry.packed;
        if (entry.offset > end || end - entry.offset < least)
            return damaged("has overlapping members");
        const auto count = std::min(end - entry.offset, least + kMost16);
        return InfoMember{entry.name, entry.offset, count, entry.packed, entry.crc};
    }

    tl::unexpected<Error> damaged(std::string_view how) const {
        return fail(ErrorKind::Integrity, fmt::format("{}: the archive {}", what_, how));
    }

    std::string_view bytes_;
    std::uint64_t archive_size_;
    std::string_view what_;
    std::uint64_t count_ = 0;      ///< entries of the directory
    std::uint64_t size_ = 0;       ///< its bytes
    std::uint64_t directory_ = 0;  ///< its first one in the archive
};

/// The content of the member, by its header and its checksum.
Result<std::string_view> content_of(const InfoMember& member,
                                    std::string_view bytes,
                                    std::string_view name) {
    const auto damaged = [&](std::string_view how) {
        return fail(ErrorKind::Integrity, fmt::format("{}: {}", name, how));
    };
    if (bytes.size() < kLocalSize || !bytes.starts_with("PK\3\4"))
        return damaged("not where the zip directory says");
    const auto name_size = static_cast<std::size_t>(number(bytes, 26, 2));
    const auto before = kLocalSize + name_size + static_cast<std::size_t>(number(bytes, 28, 2));
    if (bytes.substr(kLocalSize, name_size) != member.name || number(bytes, 8, 2) != 0)
        return damaged("not what the zip directory says");
    if (bytes.size() < before || bytes.size() - before < member.size) return damaged("truncated");
    const auto content = bytes.substr(before, static_cast<std::size_t>(member.size));
    if (crc32(0, content) != member.crc) return damaged("wrong checksum");
    return content;
}

}  // namespace

Result<InfoMember> find_info_member(std::string_view tail,
                                    std::uint64_t archive_size,
                                    std::string_view what) {
    return Tail(tail, archive_size, what).info_member();
}

Result<std::optional<std::string>> read_info_file(const InfoMember& member,
                                                  std::string_view bytes,
                                                  std::string_view name,
                                                  std::string_view what) {
    const auto shown = fmt::format("{}: {}", what, printable(member.name));
    GPKG_TRY(const auto content, content_of(member, bytes, shown));
    std::optional<std::string> text;
    const auto visit = [&](const Member& one, const ReadContent& read) -> Result<void> {
        if (clean_relative(one.path) != fmt::format("info/{}", name)) return {};
        const auto refused = [&](std::string_view why) {
            return fail(ErrorKind::Integrity, fmt::format("{}: info/{} {}", shown, name, why));
        };
        if (one.kind != MemberKind::File) return refused("is not a file");
        if (text) return refused("is in it twice");
        text.emplace();
        return read([&](std::uint64_t offset, std::string_view block) -> Result<void> {
            if (offset != text->size()) return refused("is a sparse file");
            if (block.size() > kMostInfoFile - text->size())
                return refused(fmt::format("is larger than {} bytes", kMostInfoFile));
            *text += block;
            return {};
        });
    };
    const auto unpacked =
        zstd_source(text_source(std::string(content)), shown, {kMostInfoUnpacked, 0});
    std::vector<std::string> warnings;
    GPKG_CHECK(walk_tar(unpacked, shown, warnings, visit));
    return text;
}

}  // namespace gpkg
