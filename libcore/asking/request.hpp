#pragma once

// What is wished for, put to what is there: the rules by which an install or an update leaves
// alone what it is not about.

#include "libcore/asking/present.hpp"
#include "libcore/asking/wanted.hpp"
#include "libcore/solve/solve.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// On a machine with these virtual packages. Its specs begin with those of `wanted`, and its
/// constraints with the pins of `present`.
Request request_of(const Wanted& wanted,
                   const Present& present,
                   const std::vector<PackageRecord>& machine);

/// The names from which all that bears on a request can be reached, sorted.
std::vector<std::string> names_of(const Request& request);

/// Of what a plain update names, the builds that were asked for earlier, which it keeps: ffmpeg of
/// "ffmpeg=*=lgpl*". Not those that are named exactly: they have no other version.
std::vector<MatchSpec> builds_kept(const Wanted& wanted, const Present& present);

/// Whether an update leaves out what is installed for another CPU than the machine's.
bool leaves_out_other_cpu(const Wanted& wanted,
                          const Present& present,
                          const std::vector<PackageRecord>& machine);

}  // namespace gpkg
