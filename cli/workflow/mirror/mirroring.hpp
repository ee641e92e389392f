#pragma once

// A mirror for places without a network: the packages that requests come to on every kind of
// machine that is named, and indexes that say of them what their channels say.
//
//     FOLDER/<channel>/<subdir>/  packages and indexes, as any web server gives them
//     FOLDER/gpkg.lock            what was asked for, and decided
//     FOLDER/config.yaml          settings by which the channels are taken from here
//     FOLDER/manifest.json        every file, signed where there is a key
//
// Hidden, and of no mirror: .gpkg-mirror says that the folder is one, .gpkg-mirror-busy who is at
// work on it; while one is, .manifest.before is the manifest of before, and .manifest.begun one of
// all that a run that does not end may leave.

#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/mirror/delta.hpp"
#include "cli/workflow/signing.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gpkg::cli {

struct MirrorOptions {
    ClassOptions asked;  ///< of a lock the machines are names of its classes
    LockedOptions lock;  ///< without a file what is asked is solved; all its environments
    fs::path folder;
    SignKeys sign_keys;
    fs::path delta_base;    ///< a manifest; empty: no delta is written
    fs::path delta_folder;  ///< where to
};

struct MirrorSummary {
    std::map<std::string, std::string> channels;  ///< URLs by folder
    std::size_t packages = 0;
    std::uint64_t bytes = 0;  ///< of packages
    std::size_t fetched = 0;
    std::uint64_t fetched_bytes = 0;
    std::size_t removed = 0;  ///< packages that an earlier run had put there
    std::optional<DeltaSummary> delta;
};

/// Makes the folder exactly that. What is right already stays, and what no run of gpkg's made; a
/// folder that holds something else is refused. The manifest of before is set aside first; the new
/// one comes when all that it lists is there, and then goes what it does not list any more.
Result<MirrorSummary> make_mirror(Context& context, const MirrorOptions& options);

}  // namespace gpkg::cli
