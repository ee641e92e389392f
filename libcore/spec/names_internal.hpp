#pragma once

// Reading a file name as a part of a larger text.

#include "libcore/spec/fault_internal.hpp"
#include "libcore/spec/names.hpp"

namespace gpkg::grammar {

/// FileName::parse whose failure still is an offset.
Parsed<FileName> read_file_name(std::string_view text);

}  // namespace gpkg::grammar
