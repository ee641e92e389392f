#include "libcore/fs/arriving_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace gpkg {

Result<std::shared_ptr<ArrivingFile>> ArrivingFile::open(const fs::path& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return pass(io_error(path, "open", errno));
    return std::make_shared<ArrivingFile>(std::move(file), path);
}

void ArrivingFile::grow(std::size_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        size_ += bytes;
    }
    changed_.notify_all();
}

void ArrivingFile::complete() {
    {
        const std::lock_guard lock(mutex_);
        if (state_ == State::Growing) state_ = State::Complete;
    }
    changed_.notify_all();
}

void ArrivingFile::abandon() {
    {
        const std::lock_guard lock(mutex_);
        state_ = State::Abandoned;
    }
    changed_.notify_all();
}

bool ArrivingFile::wait_for(std::uint64_t size) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state_ != State::Growing || size_ >= size; });
    return state_ != State::Abandoned && size_ >= size;
}

bool ArrivingFile::wait_for_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state_ != State::Growing; });
    return state_ == State::Complete;
}

Result<std::size_t> ArrivingFile::read(std::uint64_t offset, char* into, std::size_t room) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return state_ != State::Growing || size_ > offset; });
        if (state_ == State::Abandoned)
            return fail(ErrorKind::Interrupted, path_.native() + ": download failed");
        room = static_cast<std::size_t>(std::min<std::uint64_t>(room, size_ - offset));
    }
    if (room == 0) return 0;
    ssize_t count = 0;
    do {
        count = ::pread(file_.get(), into, room, static_cast<off_t>(offset));
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return pass(io_error(path_, "read", count < 0 ? errno : EIO));
    return static_cast<std::size_t>(count);
}

ByteSource ArrivingFile::source(std::shared_ptr<ArrivingFile> file) {
    return [file = std::move(file), offset = std::uint64_t{0}](
               char* into, std::size_t room) mutable -> Result<std::size_t> {
        GPKG_TRY(const auto count, file->read(offset, into, room));
        offset += count;
        return count;
    };
}

}  // namespace gpkg
