#pragma once

// Generations: what an environment was after each change of its packages or accelerators, so that
// it can be that again. Each is a file of its own, conda-meta/gpkg/generations/<number>.json.zst,
// which comes with the transaction or not at all. It holds the packages' records and what was asked
// for; the packages themselves are in the store, or come from their channel again.

#include "libcore/env/prefix.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct GenerationPackage {
    PackageRecord record;
    std::vector<std::string> requested_specs;

    friend bool operator==(const GenerationPackage&, const GenerationPackage&) = default;
};

struct Generation {
    std::uint64_t number = 0;  ///< from 1
    std::string time;          ///< as in the history
    std::string command;       ///< empty: what gpkg found when it came, made by other tools
    std::vector<GenerationPackage> packages;  ///< by name
    std::vector<std::string> requested;       ///< specs, in the order in which they were asked for
    GpkgState state;
    std::uint64_t restores = 0;  ///< the generation that a rollback went back to; else 0

    static Result<Generation> parse(std::string_view text, std::string_view what);
    std::string to_json() const;

    friend bool operator==(const Generation&, const Generation&) = default;
};

/// Those that are kept, oldest first; none of environments that gpkg never changed.
Result<std::vector<std::uint64_t>> generation_numbers(const fs::path& prefix);

/// NotFound where it is not kept.
Result<Generation> read_generation(const fs::path& prefix, std::uint64_t number);

/// Its file, relative to conda-meta.
std::string generation_file(std::uint64_t number);

/// Whether both records are of one archive, as far as both know it.
bool is_same_archive(const PackageRecord& a, const PackageRecord& b);

/// Whether both have the same packages: names, versions, builds, and archives where both know them.
bool same_packages(const Generation& a, const Generation& b);

/// Whether both have the same packages and accelerators. Other changes are no generation of their
/// own: the last one takes them.
bool is_same_revision(const Generation& a, const Generation& b);

}  // namespace gpkg
