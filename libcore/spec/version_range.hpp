#pragma once

// Versions between two ends.

#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/version_spec.hpp"

#include <optional>
#include <string>

namespace gpkg {

/// From one version to below another, ">=2.17,<3.0.a0"; either end may be open.
struct VersionRange {
    std::optional<Version> from;
    std::optional<Version> below;

    /// What a spec takes where that is nothing but a range; 3.9.* is from 3.9 to below 3.10.
    /// Nothing for others, also for those with an end of another kind: ">1", "<=2".
    static std::optional<VersionRange> of(const VersionSpec& spec);
    /// The same of a spec that asks for nothing beside the name and a range.
    static std::optional<VersionRange> of(const MatchSpec& spec);

    /// To what both have in common.
    void narrow_to(const VersionRange& other);

    /// As a spec, empty where both ends are open.
    std::string to_string() const;
};

/// The first version behind all that start with this one: 12.5 for 12.4. Nothing where that does
/// not end in a number.
std::optional<Version> first_after(const Version& prefix);

}  // namespace gpkg
