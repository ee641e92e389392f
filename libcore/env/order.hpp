#pragma once

// Who needs whom among installed packages, and the order in which they leave.

#include "libcore/env/prefix_record.hpp"
#include "libcore/spec/record_graph.hpp"

#include <vector>

namespace gpkg {

/// With the extras that were requested, and those that `also` asks for. Places are those in
/// `installed`.
RecordGraph graph_of(const std::vector<PrefixRecord>& installed,
                     const std::vector<MatchSpec>& also = {});

/// Installed packages in the order in which they may leave.
std::vector<PrefixRecord> dependents_first(std::vector<PrefixRecord> installed);

}  // namespace gpkg
