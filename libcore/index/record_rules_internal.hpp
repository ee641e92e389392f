#pragma once

// Which records may be used. The file name that a record leads to becomes a path on this machine
// and a URL: it must be the artifact that the record describes.

#include "libcore/index/index_record.hpp"

#include <string>
#include <string_view>

namespace gpkg::repodata {

/// Whether the artifact `fn` of a map for `extension` is a .conda. Its own extension decides, as in
/// conda, mamba and rattler: some channels list a .conda under "packages".
bool is_conda_file(std::string_view fn, std::string_view extension);

/// Why the rules (CEP 26, 44, 45) forbid the record found under `fn`; empty when they do not.
std::string fault_of(const IndexRecord& record, std::string_view fn);

}  // namespace gpkg::repodata
