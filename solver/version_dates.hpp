#pragma once

// How old a version is, so that versions of different packages can be compared: a scikit-image that
// is 988 days older than the newest weighs more than a pillow that is 66 days older.

#include "solver/universe.hpp"

#include <cstdint>
#include <vector>

namespace gpkg::solver {

/// For each candidate of a name, in the order of their ids, how many milliseconds its version's
/// date is before the newest version's. Of what the user's specs and pins on the name allow:
///
///   the date of a version is the earliest timestamp of its builds and of those of newer versions,
///   so that a late patch of an old line does not look new;
///   pre-releases do not date releases;
///   a version of which no build has a timestamp is a month older than the next newer one.
///
/// What the specs do not allow is as old as the next newer version that they do.
std::vector<std::int64_t> version_ages(const Universe& universe, NameId name);

/// What a person would notice, in milliseconds: a month.
inline constexpr std::int64_t kNoticeableAge = std::int64_t{30} * 24 * 60 * 60 * 1000;

/// "988 days"
std::string age_text(std::int64_t milliseconds);

}  // namespace gpkg::solver
