#pragma once

// What the indexer knows of one package file, and its memory of unchanged ones. Used by the
// indexer only.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace gpkg {

struct IndexedPackage {
    std::string record;       ///< JSON of its repodata record, without indexed_timestamp
    std::string run_exports;  ///< JSON object, "{}" when there are none
    std::string variant;      ///< JSON object: key -> value
    std::string oddity;       ///< what of it could not be read and is left out; often empty
    bool is_v3 = false;       ///< the record stands in "v3" (CEP 48)
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;  ///< modification time
};

/// Reads one package file completely. Integrity when it is damaged or not what its name says.
Result<IndexedPackage> read_for_index(const fs::path& file, const std::string& subdir);

/// File name -> what was found in it.
using IndexedPackages = std::map<std::string, IndexedPackage>;

/// Empty when there is none, or one that is damaged or of another gpkg.
IndexedPackages read_indexed_packages(const fs::path& file);
Result<void> write_indexed_packages(const fs::path& file, const IndexedPackages& cache);

}  // namespace gpkg
