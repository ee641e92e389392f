#pragma once

// Private folders for unfinished work inside a store. Their names tell which process of which boot
// made them, so that what a killed process left can be told from work in progress.

#include "libcore/fs/file.hpp"

#include <string>
#include <string_view>

namespace gpkg {

inline constexpr std::string_view kWorkplacePrefix = ".tmp-";

/// ".tmp-<this boot and process namespace>-<pid>-", to be completed by six random characters.
std::string workplace_stem();

/// True when nobody works at `folder` any more: its process is gone, or it is of another machine or
/// boot and has not been touched for a day.
bool is_abandoned(const fs::path& folder);

}  // namespace gpkg
