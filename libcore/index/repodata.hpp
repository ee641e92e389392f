#pragma once

// Reads repodata.json (CEP 36), with `packages`, `packages.conda` and `v3` (CEP 48), base_url (CEP
// 15) and the leniencies that real channels need.

#include "libcore/fs/file.hpp"
#include "libcore/index/channel_index.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// Reads a whole repodata text. Refuses, naming `source.url` and the reason: what is not JSON or is
/// cut off, wrong types, file names that leave their folder or name another package, duplicate
/// keys, texts beyond 1 MiB, repodata_version > 2. An empty text has no records.
Result<ChannelIndex> read_repodata(std::string json, const IndexSource& source);

/// The same from a file that is plain or, by its name or first bytes, zstd-compressed.
Result<ChannelIndex> read_repodata_file(const fs::path& path, const IndexSource& source);

/// `reference` resolved against `base` the way browsers do: absolute URLs win, "/x" keeps the host,
/// "./" and "../" walk.
std::string resolve_url(std::string_view base, std::string_view reference);

}  // namespace gpkg
