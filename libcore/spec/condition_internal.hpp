#pragma once

// Reading a condition as a part of a larger text.

#include "libcore/spec/condition.hpp"
#include "libcore/spec/fault_internal.hpp"

namespace gpkg::grammar {

/// Condition::parse whose failure still is an offset.
Parsed<Condition> read_condition(std::string_view text);

}  // namespace gpkg::grammar
