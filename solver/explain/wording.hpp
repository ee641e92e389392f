#pragma once

// How the solver's messages name things: specs, sets of builds, channels.

#include "solver/universe.hpp"

#include <string>
#include <vector>

namespace gpkg::solver {

/// The spec as a person would write it: "python >=3.8,<3.9", brackets only where nothing else says
/// it.
std::string written(const MatchSpec& spec);

/// The spec as one word of a command line, as short as it goes: "python=3.10", "p>=2,<3".
std::string as_typed(const MatchSpec& spec);

/// For people, who know a build by its name.
MatchSpec without_checksums(MatchSpec spec);

/// "where python >=3.10 and numpy are there", "for its extra test"; not for a constant.
std::string condition_text(const Universe& universe, ConditionId condition);

/// The end of a channel's URL that no other channel of the problem ends in, which as the channel
/// of a spec means this one: "conda-forge".
std::string channel_text(const Problem& problem, const std::string& base_url);

/// The channels of the problem, the highest first.
std::vector<std::string> channel_texts(const Problem& problem);

}  // namespace gpkg::solver
