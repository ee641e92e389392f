#pragma once

// A mirror for places without a network: the packages that requests come to on every kind of
// machine that is named, and indexes that say of them what their channels say.
//
//     FOLDER/<channel>/<subdir>/  packages and indexes, as any web server gives them
//     FOLDER/gpkg.lock            what was asked for, and decided
//     FOLDER/config.yaml          settings by which the channels are taken from here
//     FOLDER/manifest.json        every file, signed where there is a key

#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/signing.hpp"
#include "libcore/channel/mirror_manifest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpkg::cli {

struct MirrorOptions {
    ClassOptions asked;  ///< of a lock the machines are names of its classes
    std::string lock;    ///< a file; empty: what is asked is solved
    fs::path folder;
    SignKeys sign_keys;
};

struct MirrorSummary {
    std::size_t packages = 0;
    std::uint64_t bytes = 0;  ///< of packages
    std::size_t fetched = 0;
    std::uint64_t fetched_bytes = 0;
    std::size_t removed = 0;  ///< packages that an earlier run had put there
    MirrorManifest manifest;
};

/// Makes the folder exactly that. What is right already stays; a folder that holds something else
/// is refused. The manifest is taken away first and comes last.
Result<MirrorSummary> make_mirror(Context& context, const MirrorOptions& options);

/// The manifest of a mirror. With `keys`, one of them must have signed it.
Result<MirrorManifest> read_manifest(const fs::path& file, const std::vector<std::string>& keys);

struct DeltaSummary {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
};
/// Whether a delta of this mirror can be written there.
Result<void> check_delta_folder(const fs::path& target, const fs::path& mirror);
/// Copies into `target` what `before` does not have as it is now, the manifest included; laid over
/// the mirror of then it gives the mirror of now. check_delta_folder() was content with `target`.
Result<DeltaSummary> write_delta(Context& context,
                                 const fs::path& mirror,
                                 const MirrorManifest& before,
                                 const MirrorManifest& now,
                                 const fs::path& target);

}  // namespace gpkg::cli
