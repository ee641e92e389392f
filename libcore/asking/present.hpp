#pragma once

// What is there already, as far as it bears on a new request.

#include "libcore/env/prefix.hpp"
#include "libcore/spec/match_spec.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// A spec that must hold whatever is asked.
struct PinnedSpec {
    MatchSpec spec;
    std::string place;  ///< where it is said, to be edited
};

struct Present {
    std::vector<PrefixRecord> records;
    std::vector<MatchSpec> wishes;  ///< specs of earlier requests
    /// Where nobody recorded any: what nothing else needs, which counts as asked for where it would
    /// leave otherwise.
    std::vector<MatchSpec> leaves{};
    bool keeps_other_cpu = false;  ///< what is for another CPU stays in an update too
    std::vector<PinnedSpec> pins;
    GpkgState state;    ///< as far as it counts
    GpkgState on_disk;  ///< as it is
};

/// Of an environment; nothing where there is none. Pins are the caller's to add.
Result<Present> look_at(const fs::path& prefix);

}  // namespace gpkg
