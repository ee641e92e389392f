#pragma once

// Reading a MatchSpec as a part of a larger text.

#include "libcore/spec/fault_internal.hpp"
#include "libcore/spec/match_spec.hpp"

namespace gpkg::grammar {

/// MatchSpec::parse whose failure still is an offset.
Parsed<MatchSpec> read_match_spec(std::string_view text);

}  // namespace gpkg::grammar
