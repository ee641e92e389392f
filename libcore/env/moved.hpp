#pragma once

// Environments that somebody moved or copied with mv or cp: installed files contain the path of
// their environment, and still have the old one.

#include "libcore/env/prefix_record.hpp"

#include <optional>
#include <vector>

namespace gpkg {

/// The other environment whose interpreter a script of `prefix` starts: "/old" for a first line
/// "#!/old/bin/python". Nothing for interpreters of the system.
std::optional<fs::path> other_prefix_in_script(const fs::path& prefix, const fs::path& script);

/// The path that the files of packages have for the environment, where it is not `prefix`. Reads
/// few files: the first that names an environment decides.
std::optional<fs::path> moved_from(const fs::path& prefix,
                                   const std::vector<PrefixRecord>& records);

/// The same for commands that do not need the records: reads few of them, and finds nothing where
/// those few do not tell.
std::optional<fs::path> moved_from(const fs::path& prefix);

/// Whether a file of the package contains the path of the environment.
bool names_prefix(const PrefixRecord& record);

}  // namespace gpkg
