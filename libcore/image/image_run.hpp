#pragma once

// An image in use: seen at its mount point by one command and its children, and by nobody else.

#include "libcore/image/image.hpp"

#include <functional>
#include <string>

namespace gpkg {

struct ImageRunOptions {
    /// Where an image is unpacked that cannot be mounted: a folder of this node.
    fs::path temporary;
    /// Nothing is made on any file system, nor what is there looked at: always a private view,
    /// which takes with it what is made right beside the image.
    bool only_looks = false;
    /// Told once how the image got to its place where that costs something.
    std::function<void(const std::string&)> note{};
};

/// Calls `inside` in a process that sees the environment at the image's mount point, and returns
/// what the process ends with: its exit status, 128 + n for signal n. The ways, best first: the
/// kernel's squashfs (root alone may mount that), squashfuse in a namespace of this user, unpacked
/// into a temporary folder that the namespace has at the mount point. Whatever was mounted or
/// unpacked is gone when this returns. Unsupported, with what stood in the way of each, where none
/// works.
Result<int> run_in_image(const fs::path& image,
                         const ImageInfo& info,
                         const ImageRunOptions& options,
                         const std::function<int()>& inside);

}  // namespace gpkg
