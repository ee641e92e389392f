#pragma once

// channeldata.json (CEP 38), at the channel's root: a few words about each package name, for
// catalogues. Nothing is installed by it.

#include "libcore/indexing/published.hpp"

#include <span>
#include <string>

namespace gpkg {

std::string channeldata(std::span<const PublishedSubdir* const> subdirs);

}  // namespace gpkg
