#pragma once

// What packages ask of a machine.

#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"
#include "libcore/spec/version.hpp"

#include <optional>
#include <string>
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

/// Which values in place of the machine's a spec on a virtual package takes.
struct ValuesTaken {
    bool newer = false;
    bool older = false;
    std::optional<Version> named_newer;  ///< the lowest newer one that the spec names
    /// A value to give the machine: "2.34" for "__glibc >=2.34", "x86_64_v4" for "__archspec *
    /// x86_64_v4"; empty where the spec names none.
    std::string example;
};

/// `need.there` is what the machine has. Where it has nothing, all values are newer.
ValuesTaken values_taken(const UnmetNeed& need);

/// Whether the machine's NVIDIA GPUs have a driver that supports this CUDA: NVIDIA drops old GPUs
/// from new drivers.
bool may_have_driver_for(const Version& cuda, const std::vector<PackageRecord>& machine);

/// Whether a newer NVIDIA driver meets an unmet need of __cuda, and the machine's GPUs have such a
/// driver.
bool newer_driver_helps(const UnmetNeed& need, const std::vector<PackageRecord>& machine);

/// Whether it has unmet needs, and the machine's values for all of them are assumed.
bool lacks_only_assumed(const PackageRecord& record, const std::vector<PackageRecord>& machine);

/// Whether `record` may restrict the virtual package `name`.
bool may_restrict(const PackageRecord& record, std::string_view name, DriverBounds bounds);

}  // namespace gpkg
