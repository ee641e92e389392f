#pragma once

// Reading a version as a part of a larger text.

#include "libcore/spec/fault_internal.hpp"
#include "libcore/spec/version.hpp"

namespace gpkg::grammar {

/// Version::parse whose failure still is an offset.
Parsed<Version> read_version(std::string_view text);

/// The characters that versions are made of, in either case.
inline bool is_version_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-' || c == '+' || c == '!';
}

}  // namespace gpkg::grammar
