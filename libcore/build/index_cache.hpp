#pragma once

// What the indexer knows of one package file, and its memory of unchanged ones. Used by the
// indexer only.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace gpkg {

struct IndexedPackage {
    nlohmann::json record;       ///< of repodata, without indexed_timestamp
    nlohmann::json run_exports;  ///< an object, empty when there are none
    nlohmann::json variant;      ///< key -> value
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;  ///< modification time
};

/// Reads one package file completely. Integrity when it is damaged or not what its name says.
Result<IndexedPackage> read_for_index(const fs::path& file, const std::string& subdir);

/// File name -> what was found in it.
using IndexCache = std::map<std::string, IndexedPackage>;

/// Empty when there is none, or one that is damaged or of another gpkg.
IndexCache read_index_cache(const fs::path& file);
Result<void> write_index_cache(const fs::path& file, const IndexCache& cache);

/// Any JSON file as a value; null when it is not there or damaged.
nlohmann::json read_json_leniently(const fs::path& file);

}  // namespace gpkg
