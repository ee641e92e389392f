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

/// Whether it counts what packages that tell a CUDA version restrict of the driver. What builds
/// with them may run elsewhere, as Request::only_compiles has it.
enum class DriverBounds { Count, Ignore };

/// What a record asks of the machine in vain: dependencies on virtual packages, and what it
/// restricts of those that are there. What is asked on a condition is left out.
std::vector<UnmetNeed> unmet_needs(const PackageRecord& record,
                                   const std::vector<PackageRecord>& machine,
                                   DriverBounds bounds = DriverBounds::Count);

/// Whether it has unmet needs, and the machine's values for all of them are assumed.
bool lacks_only_assumed(const PackageRecord& record, const std::vector<PackageRecord>& machine);

/// Whether `record` may restrict the virtual package `name`.
bool may_restrict(const PackageRecord& record, std::string_view name, DriverBounds bounds);

}  // namespace gpkg
