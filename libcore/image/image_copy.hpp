#pragma once

// Images on the disk of this machine: one copy for each content, brought once and used by all
// shells. No lock is needed for that: a copy has its name when it is whole and compared.

#include "libcore/image/image.hpp"

#include <functional>
#include <set>
#include <string>

namespace gpkg {

struct ImageCopyOptions {
    fs::path disk;  ///< a folder of this machine; in it, "gpkg-<user>/images" is made
    std::set<std::string> in_use{};                  ///< contents that are mounted
    std::function<void(const std::string&)> note{};  ///< told what takes time
    std::function<bool()> cancelled{};
};

/// The copy of an image, made where it is not there yet; while another process makes it, that is
/// waited for, but not for ever. Integrity where the bytes are not those that were built. Makes
/// room first: takes away copies that are not in use and of which the original is gone or another
/// one now.
Result<fs::path> local_copy(const fs::path& image,
                            const ImageInfo& info,
                            const ImageCopyOptions& options);

/// This user's own folder in one that everybody may write to, made where it is not there. Conflict
/// where somebody else has put something at its place.
Result<fs::path> own_folder_in(const fs::path& folder);

}  // namespace gpkg
