#pragma once

// Where the artifacts of an index are (CEP 15).

#include "libcore/base/error.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// The folder of the artifacts, with a '/' at its end: `base_url`, absolute or relative to the
/// index at `index_url`; next to the index when it is empty. Refused, the error being the reason
/// alone: what is neither http, https nor file, a file for an index from the network, which would
/// make files of this machine its packages, and what no file name can be joined to.
Result<std::string> artifact_folder(std::string_view index_url, std::string_view base_url);

}  // namespace gpkg
