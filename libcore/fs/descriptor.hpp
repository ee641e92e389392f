#pragma once

// Open files and folders, and what the system says when they fail.

#include "libcore/base/error.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace gpkg {

namespace fs = std::filesystem;

/// An open file or folder, closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }

    int get() const { return fd_; }
    /// Gives it away: it is no longer closed.
    int release() { return std::exchange(fd_, -1); }
    explicit operator bool() const { return fd_ >= 0; }
    /// Closes now, to hear of write errors that NFS reports only here: false, with errno set.
    bool close();

private:
    int fd_ = -1;
};

/// Opens a folder for the calls that are relative to it.
Result<Descriptor> open_folder(const fs::path& path);

/// Writes all of it, however many calls that takes; false, with errno set, when it cannot.
bool write_fully(int fd, std::string_view bytes);

/// Whether an errno says that nothing has a name. Any other error (EIO, ESTALE, EACCES) says
/// nothing about that.
bool is_absent(int code);

/// "PATH: cannot DOING: what the system says", NotFound where the path does not exist, else Io;
/// with a hint on a full disk.
Error io_error(const fs::path& path, std::string_view doing, int code);

}  // namespace gpkg
