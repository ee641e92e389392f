#pragma once

// What a person changed in files that packages brought, and what would be lost with them.

#include "libcore/env/prefix_record.hpp"
#include "libcore/fs/file.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Whether a file, or a link, is another than was linked, as far as its record and the unpacked
/// package that this names tell. Files that are still those of the store are not read. A folder in
/// its place is none: what is in there belongs to no package. A path that cannot be examined is an
/// error.
Result<bool> is_changed(const fs::path& prefix,
                        const PrefixRecord& record,
                        const PrefixPath& entry);

/// A file of a package that was changed after it was installed, and is removed with the package.
struct LostFile {
    std::string distribution;  ///< of the package
    std::string path;          ///< in the prefix
};

/// "etc/app.conf of app-1.0-0 was changed after it was installed; the change will be lost"
std::string lost_change(const LostFile& file);

/// The changed files that are removed with these packages; files that another package has too stay.
Result<std::vector<LostFile>> lost_files(const fs::path& prefix,
                                         const std::vector<PrefixRecord>& leaving);

}  // namespace gpkg
