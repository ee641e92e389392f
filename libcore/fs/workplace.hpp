#pragma once

// Private folders for unfinished work. Their names tell which process of which boot made them, so
// that what a killed process left can be told from work in progress.

#include "libcore/fs/file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// ".tmp-<this boot and process namespace>-<pid>-", to be completed by six random characters.
std::string workplace_stem();

/// Folders below `parent` with such a name at which nobody works any more: the process is gone, or
/// it is of another machine or boot and has not touched it for a day.
std::vector<fs::path> abandoned_workplaces(const fs::path& parent);

/// A workplace below `parent`, from which abandoned ones are removed first.
Result<TemporaryFolder> make_workplace(const fs::path& parent);

}  // namespace gpkg
