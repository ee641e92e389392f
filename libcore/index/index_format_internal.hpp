#pragma once

// The file form of a ChannelIndex. Everything is in the byte order of the machine that wrote it,
// every structure at an offset of a multiple of 8:
//
//   magic       8 bytes
//   segments    one per name that is offered or depended on: all about that name
//   directory   an Entry per name, sorted by name; after the entries what the header of the
//               index has to say, then the texts of both
//   footer      where the directory is, and what must hold for the file to be used
//
// The directory and each segment have a checksum. That of a segment is looked at when its name is
// first asked for, so that using an index costs the same however many records it has.

#include "libcore/index/channel_index.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace gpkg::index_format {

/// Raised whenever the meaning of a byte changes; files of other versions are made anew.
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::array<char, 8> kMagic{'g', 'p', 'k', 'g', 'i', 'd', 'x', '\n'};

/// Begins a segment. Behind it stand the rows, best first; the versions, as texts; the specs on
/// this name, as texts; the lists; the texts. Lists and texts are meant by their offset from the
/// beginning of those two parts.
struct Segment {
    std::uint32_t rows = 0;
    std::uint32_t versions = 0;
    std::uint32_t specs = 0;
    std::uint32_t first_spec = 0;  ///< the number of the first spec
    std::uint32_t lists_at = 0;    ///< from the beginning of the segment
    std::uint32_t texts_at = 0;
};

struct Entry {
    std::uint64_t offset = 0;  ///< of the segment in the file
    std::uint64_t checksum = 0;
    std::uint32_t size = 0;
    std::uint32_t rows = 0;
    std::uint32_t first_spec = 0;
    ChannelIndex::Text name;  ///< in the texts of the directory
    std::uint32_t unused = 0;
};

struct Footer {
    std::uint32_t byte_order = kByteOrder;
    std::uint32_t version = kVersion;
    std::uint64_t file_size = 0;  ///< with the footer
    std::uint64_t directory = 0;  ///< its offset
    std::uint64_t directory_size = 0;
    std::uint64_t directory_checksum = 0;
    std::uint64_t texts_at = 0;  ///< of the directory, from its beginning
    std::uint32_t names = 0;
    std::uint32_t records = 0;
    std::uint32_t specs = 0;
    std::uint32_t notes = 0;  ///< Texts, after the entries
    ChannelIndex::Text base_url;
    ChannelIndex::Text base, overrides;  ///< the ChannelRelations
    std::array<std::uint8_t, 32> origin{};
    std::uint64_t checksum = 0;  ///< of all above
    std::array<char, 8> magic = kMagic;
};

std::uint64_t checksum(std::string_view bytes);

template <typename T>
std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

}  // namespace gpkg::index_format
