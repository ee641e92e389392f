#pragma once

// What the indexer finds in one package file.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace gpkg {

/// The texts are JSON objects without line ends, their keys sorted.
struct IndexedPackage {
    std::string record;           ///< for repodata.json
    std::string run_exports;      ///< "{}" when there are none
    std::string variant;          ///< key -> value, of info/hash_input.json
    std::string channeldata;      ///< what of it channeldata.json tells when it is the newest
    std::string oddity;           ///< what of it could not be read and is left out; often empty
    bool is_v3 = false;           ///< the record stands in "v3" (CEP 48)
    std::int64_t built_ms = 0;    ///< the record's timestamp; 0: it has none
    std::int64_t indexed_ms = 0;  ///< the record's indexed_timestamp (CEP 47)
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;  ///< modification time
};

/// When the file with this sha256 came into the channel, Unix milliseconds.
using AppearedAt = std::function<std::int64_t(const std::string& sha256)>;

/// Reads one package file completely. Integrity when it is damaged or not what its name says.
Result<IndexedPackage> read_for_index(const fs::path& file,
                                      const std::string& subdir,
                                      const AppearedAt& appeared_at);

/// The sha256 in its record.
std::string sha256_in(const IndexedPackage& package);
/// Dates it anew.
void set_indexed(IndexedPackage& package, std::int64_t indexed_ms);

/// Dependencies of v3 records are a bare name, or a name and brackets (CEP 48): "numpy >=1.26 py*"
/// becomes numpy[version=">=1.26",build="py*"]. Texts of that form stay as they are.
Result<std::string> bracket_form(const std::string& spec);

}  // namespace gpkg
