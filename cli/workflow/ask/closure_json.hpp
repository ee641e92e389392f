#pragma once

// The packages of a closure and their dependencies as JSON, for gpkg closure and gpkg closure why.

#include "libcore/closure/closure.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace gpkg::cli {

/// The package at `position`: its identity, its sizes and why it is there.
nlohmann::ordered_json package_json(const Closure& closure, std::size_t position);

/// A dependency, and what dropping it alone would save.
nlohmann::ordered_json edge_json(const Closure& closure, const ClosureEdge& edge);

}  // namespace gpkg::cli
