#pragma once

// What a .conda says of itself, read from a few of its bytes: from its end, where a zip has its
// directory, and from the info- member that this leads to. For archives that are far away.
//
// Offsets and sizes are the archive's word. None is followed before it is known to lie inside.

#include "libcore/base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

/// So many bytes at the end hold the directory of an honest .conda, and mostly its info- member.
inline constexpr std::uint64_t kArchiveTail = std::uint64_t{64} << 10U;
/// An info- member beyond this size is not read.
inline constexpr std::uint64_t kMostInfoMember = std::uint64_t{16} << 20U;
/// Nor is one that unpacks to more, or of it a file that is larger.
inline constexpr std::uint64_t kMostInfoUnpacked = std::uint64_t{256} << 20U;
inline constexpr std::uint64_t kMostInfoFile = std::uint64_t{1} << 20U;

/// Where the info-*.tar.zst lies.
struct InfoMember {
    std::string name;
    std::uint64_t from = 0;   ///< its header's first byte in the archive
    std::uint64_t count = 0;  ///< bytes from there on that hold header and content
    std::uint64_t size = 0;   ///< of the content
    std::uint32_t crc = 0;    ///< likewise
};

/// `tail` are the last bytes of an archive of `archive_size`. Integrity when they are not those of
/// a .conda; Unsupported when they are too few, or the member is too large. `what` names the
/// archive.
Result<InfoMember> find_info_member(std::string_view tail,
                                    std::uint64_t archive_size,
                                    std::string_view what);

/// The text of info/NAME; nothing when there is none. `bytes` are the `count` bytes of the member.
Result<std::optional<std::string>> read_info_file(const InfoMember& member,
                                                  std::string_view bytes,
                                                  std::string_view name,
                                                  std::string_view what);

}  // namespace gpkg
