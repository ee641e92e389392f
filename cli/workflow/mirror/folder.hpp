#pragma once

// What those who make a mirror, carry it over and compare it share: its manifest, and that one at a
// time changes it.

#include "libcore/channel/mirror_manifest.hpp"
#include "libcore/fs/claim.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// The manifest of before, until what it lists and the new one does not is gone.
inline constexpr std::string_view kManifestBefore = ".manifest.before";

struct ReadManifest {
    MirrorManifest manifest;
    std::string digest;  ///< SHA-256 of the text, signatures aside
    bool is_signed = false;
};

/// With `keys`, one of them must have signed it.
Result<ReadManifest> read_manifest(const fs::path& file, const std::vector<std::string>& keys);

/// Conflict where somebody is at work on the mirror.
Result<Claim> claim_mirror(const fs::path& mirror);

/// Removes files of a mirror that are there, then the folders of its channels, by name, in which
/// nothing is left. How many of the files were packages.
Result<std::size_t> remove_from_mirror(const fs::path& mirror,
                                       const std::vector<std::string>& paths,
                                       const std::map<std::string, std::string>& channels);

}  // namespace gpkg::cli
