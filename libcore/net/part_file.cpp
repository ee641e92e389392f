#include "libcore/fs/temporary.hpp"
#include "libcore/net/part_file_internal.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace gpkg {
namespace {

tl::unexpected<Error> cannot_write(const fs::path& path, int code) {
    return pass(io_error(path, "write", code));
}

}  // namespace

Result<PartFile> PartFile::create(const fs::path& destination) {
    if (destination.has_parent_path()) GPKG_CHECK(make_folders(destination.parent_path()));
    for (;;) {
        const fs::path part = fmt::format("{}.part-{}", destination.native(), random_suffix());
        const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return PartFile(fd, destination, part);
        if (errno != EEXIST) return cannot_write(destination, errno);
    }
}

PartFile::PartFile(PartFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      destination_(std::move(other.destination_)),
      part_(std::exchange(other.part_, {})),
      shared_(std::move(other.shared_)) {}

PartFile& PartFile::operator=(PartFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(destination_, other.destination_);
    std::swap(part_, other.part_);
    std::swap(shared_, other.shared_);
    return *this;
}

PartFile::~PartFile() {
    if (fd_ >= 0) ::close(fd_);
    if (part_.empty()) return;
    ::unlink(part_.c_str());
    if (shared_) shared_->abandon();
}

Result<void> PartFile::write(std::string_view bytes) {
    if (!write_fully(fd_, bytes)) return cannot_write(destination_, errno);
    if (shared_) shared_->grow(bytes.size());
    return {};
}

Result<std::shared_ptr<ArrivingFile>> PartFile::share() {
    GPKG_TRY(shared_, ArrivingFile::open(part_));
    return shared_;
}

Result<void> PartFile::put_in_place() {
    // NFS tells of a full disk only here.
    if (::close(std::exchange(fd_, -1)) != 0) return cannot_write(destination_, errno);
    if (::rename(part_.c_str(), destination_.c_str()) != 0)
        return cannot_write(destination_, errno);
    part_.clear();
    if (shared_) shared_->complete();
    return {};
}

}  // namespace gpkg
