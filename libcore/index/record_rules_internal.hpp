#pragma once

// Which records may be used. The file name that a record leads to becomes a path on this machine
// and a URL: it must be the artifact that the record describes.

#include "libcore/index/index_record.hpp"

#include <string>
#include <string_view>

namespace gpkg::repodata {

/// Throws Malformed for a record that no index would hold in good faith, or for a file name that
/// is not plain or has the wrong extension. Else why the rules (CEP 26, 44, 45) forbid the record
/// found under `fn` in `map`; empty when they do not.
std::string fault_of(const IndexRecord& record, std::string_view fn, std::string_view map);

}  // namespace gpkg::repodata
