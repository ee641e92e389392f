#pragma once

// Reads repodata.json (CEP 36), with `packages`, `packages.conda` and `v3` (CEP 48), base_url (CEP
// 15) and the leniencies that real channels need.

#include "libcore/fs/byte_source.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/index/index_writer.hpp"

#include <string>

namespace gpkg {

/// Reads a repodata text of any length in bounded memory, to its end, and gives its records to
/// `writer`. Refuses, naming `source.url` and the reason: what is not JSON or is cut off, wrong
/// types and duplicate keys outside of records, file names that leave their folder, a base_url that
/// leads from the network to this machine, repodata_version > 2. Single records that cannot be read
/// (wrong types, duplicate keys, texts beyond 1 MiB), break the rules (CEP 26, 44, 45), or stand
/// under the file name of another, are left out, and a note says so. An empty text has no records.
Result<void> read_repodata(ByteSource json, const IndexSource& source, IndexWriter& writer);

/// The text of what is plain or zstd-compressed. What unpacks to 1000 times its size and more than
/// 256 MiB is a bomb.
ByteSource repodata_source(ByteSource bytes, const IndexSource& source);
Result<ByteSource> repodata_source(const fs::path& path, const IndexSource& source);

/// IndexWriter::finish with errors that name `source.url`.
Result<void> write_index(IndexWriter&& writer,
                         const IndexOrigin& origin,
                         const IndexSource& source,
                         const IndexWriter::Sink& sink);

/// The same, into memory.
Result<std::string> index_bytes(IndexWriter&& writer,
                                const IndexOrigin& origin,
                                const IndexSource& source);

/// An index in memory.
Result<ChannelIndex> read_repodata(std::string json, const IndexSource& source);
Result<ChannelIndex> read_repodata_file(const fs::path& path, const IndexSource& source);

}  // namespace gpkg
