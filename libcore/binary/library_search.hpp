#pragma once

// Where the loader would find a library, asked without loading anything.

#include "libcore/binary/elf.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg {

/// Folders that the loader looks into last, as far as they are there. Its cache, which may name
/// more, is not read.
std::vector<fs::path> machine_library_folders();

/// The file that the loader takes for `library`, needed by a file whose $ORIGIN is `origin`: along
/// the file's own library path, then in `machine_folders`. Not looked at: LD_LIBRARY_PATH, and the
/// DT_RPATH of what loads the file. A file for another kind of machine is passed over, as the
/// loader does.
///
/// $ORIGIN of a library is the folder that it was opened through, which is that of the link where
/// it was opened by one; of a program it is the folder of the file itself.
std::optional<fs::path> find_library(const ElfFile& elf,
                                     const fs::path& origin,
                                     const std::string& library,
                                     const std::vector<fs::path>& machine_folders);

}  // namespace gpkg
