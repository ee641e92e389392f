#pragma once

// An environment as one squashfs file. It is used where its files say it is, at a mount point that
// is part of it; a last block behind the file system, which squashfs does not look at, tells which.

#include "libcore/env/laid_out.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct ImageInfo {
    std::string name;      ///< of the environment
    fs::path mount_point;  ///< what its files name as their prefix
    std::string platform;  ///< "linux-64"
    std::size_t packages = 0;
    std::string content;  ///< sha256 of all that is before this information
    std::string made_by;  ///< "gpkg 0.1.0"
};

/// So many bytes behind the content tell of it.
inline constexpr std::size_t kImageInformation = 4096;

struct ImagePackage {
    std::string name;
    std::string version;
    std::string build;
};

/// The packages of an image by name, read without mounting it. NotFound without unsquashfs.
Result<std::vector<ImagePackage>> packages_of_image(const fs::path& image);

/// Of a file, or of a loop device that has one. Unsupported where it is none of gpkg's images.
Result<ImageInfo> read_image_info(const fs::path& image);

struct ImageDigests {
    std::string sha256;  ///< of the file
    std::uint64_t size = 0;
};
using TakePiece = std::function<Result<void>(std::string_view)>;
/// Reads all of it, and hands on what it reads. Integrity where its content is not what was built.
Result<ImageDigests> check_image(const fs::path& image,
                                 const ImageInfo& info,
                                 const TakePiece& take = {});

/// "/gpkg/ml-0123456789ab": where nothing is on any machine, and the same for the same environment.
fs::path image_mount_point(const Transaction& environment, std::string_view name);

struct ImageOptions {
    ImageInfo info;
    LayOutOptions layout;
    std::int64_t time = 0;       ///< of every file, Unix seconds
    std::optional<int> level{};  ///< zstd's 1 to 22, or of a layout gzip's 1 to 9
};

/// Writes the image with mksquashfs (squashfs-tools >= 4.5), whole or not at all. What warnings
/// tell is not in it. NotFound where there is no such program.
Result<std::vector<std::string>> write_image(const Transaction& environment,
                                             const fs::path& image,
                                             const ImageOptions& options);

}  // namespace gpkg
