#pragma once

// A look into a component's archive: which parts it has, and what its libraries need.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/redist/component_layout.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// What an archive holds, as far as recipes have to know it.
struct RedistListing {
    std::set<RedistPart> parts;                   ///< that have files
    std::vector<std::string> plain_libraries;     ///< see RedistLayout
    std::vector<std::string> strays;              ///< files that belong to no part
    std::map<std::string, RedistPart> libraries;  ///< shared ones by name; stubs are none
    /// By part, what its programs and libraries need: by name, glibc's and drivers' too.
    std::map<RedistPart, std::set<std::string>> needs;
    int newest_gcc = 0;  ///< the last major version that its headers compile with; 0: any
    bool has_license = false;
};

/// Looks into an archive, which is unpacked below `temporary` for that.
Result<RedistListing> list_redist_archive(const fs::path& archive,
                                          RedistLayout layout,
                                          const fs::path& temporary);

}  // namespace gpkg
