#pragma once

// A file that is still arriving: it stands beside its destination under a name of its own, and is
// gone with its owner unless it was put in place.

#include "libcore/base/error.hpp"
#include "libcore/fs/arriving_file.hpp"
#include "libcore/fs/file.hpp"

#include <memory>
#include <string_view>

namespace gpkg {

class PartFile {
public:
    /// Makes the folder where it is missing. The umask decides who may read the file.
    static Result<PartFile> create(const fs::path& destination);
    PartFile(PartFile&& other) noexcept;
    PartFile& operator=(PartFile&& other) noexcept;
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    ~PartFile();

    Result<void> write(std::string_view bytes);
    /// For who reads it while it arrives. Complete once it is in place, else abandoned with it.
    Result<std::shared_ptr<ArrivingFile>> share();
    /// Closes and renames to the destination.
    Result<void> put_in_place();

private:
    PartFile(int fd, fs::path destination, fs::path part)
        : fd_(fd), destination_(std::move(destination)), part_(std::move(part)) {}

    int fd_ = -1;
    fs::path destination_;
    fs::path part_;  ///< empty: nothing to remove
    std::shared_ptr<ArrivingFile> shared_;
};

}  // namespace gpkg
