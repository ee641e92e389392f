#pragma once

// What a mirror elsewhere lacks, to be carried there: the files that its manifest does not have as
// they are now, the manifest of now, and
//
//     delta.json  {"format": 1, "base": "<SHA-256 of the text of the manifest it is laid over>"}

#include "cli/context.hpp"
#include "cli/workflow/mirror/folder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpkg::cli {

/// The manifest that a delta begins at. Where `file` is that of `mirror` itself, and a run that did
/// not end has set it aside, that one.
Result<ReadManifest> read_base(const fs::path& file, const fs::path& mirror);

struct DeltaSummary {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
};
/// Whether a delta of this mirror can be written there.
Result<void> check_delta_folder(const fs::path& target, const fs::path& mirror);
/// Copies into `target` what `base` does not have as `now`, whose file is `manifest`, has it.
/// check_delta_folder() was content with `target`.
Result<DeltaSummary> write_delta(Context& context,
                                 const fs::path& mirror,
                                 const ReadManifest& base,
                                 const MirrorManifest& now,
                                 const std::string& manifest,
                                 const fs::path& target);

struct AppliedDelta {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    std::size_t removed = 0;  ///< packages
};
/// Makes a mirror of then the one of now. All is copied and compared before anything is changed:
/// what fails by then leaves the mirror as it was, and what is cut off later is ended by the next
/// call. With `keys`, one of them must have signed the manifest.
Result<AppliedDelta> apply_delta(Context& context,
                                 const fs::path& delta,
                                 const fs::path& mirror,
                                 const std::vector<std::string>& keys);

}  // namespace gpkg::cli
