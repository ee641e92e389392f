#pragma once

// Files reached folder by folder without following a link, and names made fit for a message.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpkg {

/// An open file or folder.
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
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    /// Closes now, to hear of write errors that network file systems report only here.
    bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

private:
    int fd_ = -1;
};

/// `text` with control characters and bytes beyond ASCII as \xNN, cut when long: archives and
/// indexes choose names, and a message goes to a terminal.
std::string printable(std::string_view text);

/// "PATH: cannot DO: what the system says", with a hint when the disk is full.
tl::unexpected<Error> io_error(std::string_view path, std::string_view doing, int code);

/// "a/b" for "./a//b/", nothing for "." and "./".
std::string clean_relative(std::string_view path);

/// Opens the file `relative` (safe, clean) below the open folder, refusing links at every step.
/// The descriptor is empty and errno set where that fails: ELOOP or ENOTDIR for a link.
Descriptor open_below(int folder, const std::string& relative, int flags);

Result<std::string> read_descriptor(int fd, std::string_view path);

/// The file that `relative` means when links are followed inside the open folder only: a clean
/// relative path, or nothing when it is missing, loops or leads outside.
std::optional<std::string> resolve_inside(int folder, std::string_view relative);

/// The text of the link, nothing when it is none.
std::optional<std::string> read_link(int folder, const std::string& relative);

}  // namespace gpkg
