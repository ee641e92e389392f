#pragma once

#include "libcore/env/history.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/match_spec.hpp"

#include <vector>

namespace gpkg::cli {

/// The specs that were asked for in an environment so far, in that order. What another tool wrote
/// may be beyond reading; it is passed over.
std::vector<MatchSpec> wishes_in(const std::vector<HistoryEntry>& history);
std::vector<MatchSpec> wishes_of(const fs::path& prefix);

}  // namespace gpkg::cli
