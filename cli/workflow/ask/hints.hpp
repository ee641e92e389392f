#pragma once

// What is told beside a clash: what the user may not know of where it comes from.

#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/ask/tried_fixes.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// Of names that no channel has: those like them, or that another channel may have them. Empty
/// where it tells of no such name.
std::string hint_on_names(const Explanation& explanation);

/// "with a build, = is exact: 'pytorch=2.5.*=cuda*' matches 2.5.1", if that matches builds in the
/// indexes and the spec as typed matches none; else empty.
std::string hint_on_exact_version(const std::vector<SharedIndex>& indexes, const MatchSpec& spec);

/// The first that there is of that, of platforms and old names of builds, of variables, and of an
/// accelerator that comes of the configuration. `shown` are the fixes told with it: it does not
/// repeat them. `others` are asked for other classes of a lock.
std::string hint_for(const Context& context,
                     const Question& question,
                     const Explanation& explanation,
                     const std::vector<TriedFix>& shown,
                     const std::vector<const Question*>& others);

}  // namespace gpkg::cli
