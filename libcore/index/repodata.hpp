#pragma once

// Reads repodata.json (CEP 36), with `packages`, `packages.conda` and `v3` (CEP 48), base_url (CEP
// 15) and the leniencies that real channels need.

#include "libcore/fs/file.hpp"
#include "libcore/index/channel_index.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gpkg {

/// What the parser and the 32-bit offsets of a ChannelIndex can address. The largest real index is
/// a tenth of that.
inline constexpr std::size_t kLargestIndex = (std::size_t{4} << 30U) - 1;

/// Reads a whole repodata text. Refuses, naming `source.url` and the reason: what is not JSON or is
/// cut off, wrong types, file names that leave their folder, duplicate keys, texts beyond 1 MiB, a
/// base_url that leads from the network to this machine, repodata_version > 2. Single records that
/// break the rules (CEP 26, 44, 45), or stand under the file name of another, are left out, and a
/// note says so. An empty text has no records.
Result<ChannelIndex> read_repodata(std::string json, const IndexSource& source);

/// The same from a file that is plain or, by its name or first bytes, zstd-compressed. One that
/// unpacks to more than kLargestIndex, or to 1000 times its size and more than 256 MiB, is a bomb.
Result<ChannelIndex> read_repodata_file(const fs::path& path, const IndexSource& source);

}  // namespace gpkg
