#pragma once

// Reading a MatchSpec as a part of a larger text.

#include "libcore/spec/fault_internal.hpp"
#include "libcore/spec/match_spec.hpp"

namespace gpkg::grammar {

/// Whether a spec may have a condition (CEP 43); a spec within a condition may not.
enum class WhenKey { Allowed, Refused };

/// Behind the '$' that ends the regex at `begin`; the size where there is none.
std::size_t regex_end(std::string_view text, std::size_t begin);

/// MatchSpec::parse whose failure still is an offset.
Parsed<MatchSpec> read_match_spec(std::string_view text, WhenKey when = WhenKey::Allowed);

}  // namespace gpkg::grammar
