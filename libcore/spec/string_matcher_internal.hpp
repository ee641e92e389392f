#pragma once

// Reading a matcher as a part of a larger text.

#include "libcore/spec/fault_internal.hpp"
#include "libcore/spec/string_matcher.hpp"

namespace gpkg::grammar {

/// StringMatcher::parse whose failure still is an offset.
Parsed<StringMatcher> read_matcher(std::string_view text);
/// The same for a text that starts with '^'.
Parsed<StringMatcher> read_regex(std::string_view text);

}  // namespace gpkg::grammar
