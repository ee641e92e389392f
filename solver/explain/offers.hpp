#pragma once

// What the channels or the machine have instead: other versions, records that are left out and why,
// nothing of that name.

#include "solver/universe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::solver {

/// Fills the parts of `line` that say what there is of `name`. `asked` are the specs without a
/// match; left-out records are shown if they would match one of them.
void tell_offer(const Universe& universe,
                NameId name,
                const std::vector<SpecId>& asked,
                ExplanationLine& line);

/// The versions of a name in the channels that `channel` means, or in all; the newest first.
std::vector<Version> versions_of(const Universe& universe,
                                 NameId name,
                                 const std::optional<std::string>& channel = std::nullopt);

}  // namespace gpkg::solver
