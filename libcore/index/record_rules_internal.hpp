#pragma once

// Which records may be used. The file name that a record leads to becomes a path on this machine
// and a URL: it must be the artifact that the record describes.

#include "libcore/index/index_record.hpp"

#include <string>
#include <string_view>

namespace gpkg::repodata {

/// Throws Malformed for a key of `map` that is no plain file name, or has not the extension of the
/// record: no index would hold it in good faith.
void check_file_name(const IndexRecord& record, std::string_view fn, std::string_view map);

/// Why the rules (CEP 26, 44, 45) forbid the record found under `fn`; empty when they do not.
std::string fault_of(const IndexRecord& record, std::string_view fn);

}  // namespace gpkg::repodata
