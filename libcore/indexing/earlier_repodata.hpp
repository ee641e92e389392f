#pragma once

// What an earlier repodata.json says that the packages do not: when they appeared and which were
// withdrawn. Read where the indexer's memory is missing or somebody else wrote the file.

#include "libcore/fs/file.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace gpkg {

struct EarlierRepodata {
    struct Appearance {
        std::string sha256;  ///< often empty in old indexes
        std::int64_t at_ms = 0;
    };
    std::map<std::string, Appearance> appeared;  ///< by file name
    std::set<std::string> removed;               ///< file names

    /// When these bytes came under this name; `now_ms` where it is not known. Other bytes under an
    /// old name are a new artifact.
    std::int64_t appearance(const std::string& file_name,
                            const std::string& sha256,
                            std::int64_t now_ms) const;
};

/// Empty when there is no such file, or one that is no repodata.
EarlierRepodata read_earlier_repodata(const fs::path& file);

}  // namespace gpkg
