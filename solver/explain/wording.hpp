#pragma once

// How the solver's messages name things: conditions, channels.

#include "solver/universe.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// "where python >=3.10 and numpy are there", "for its extra test"; not for a constant.
std::string condition_text(const Universe& universe, ConditionId condition);

/// The end of a channel's URL that no other channel of the problem ends in, which as the channel
/// of a spec means this one: "conda-forge".
std::string channel_text(const Problem& problem, const std::string& base_url);

/// The channels of the problem, the highest first.
std::vector<std::string> channel_texts(const Problem& problem);

}  // namespace gpkg::solver
