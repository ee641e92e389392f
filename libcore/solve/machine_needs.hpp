#pragma once

// What packages ask of a machine.

#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <vector>

namespace gpkg {

struct UnmetNeed {
    MatchSpec spec;
    const PackageRecord* there = nullptr;  ///< what the machine has of that name; null: nothing
};

/// What a record asks of the machine in vain: dependencies on virtual packages, and what it
/// restricts of those that are there. What is asked on a condition is left out. `only_compiles`:
/// see Request::only_compiles.
std::vector<UnmetNeed> unmet_needs(const PackageRecord& record,
                                   const std::vector<PackageRecord>& machine,
                                   bool only_compiles = false);

/// Whether `record` may restrict the virtual package `name`.
bool may_restrict(const PackageRecord& record, std::string_view name, bool only_compiles);

}  // namespace gpkg
