#include "libcore/fs/descriptor.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gpkg {

bool Descriptor::close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

Result<Descriptor> open_folder(const fs::path& path) {
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return pass(io_error(path, "open", errno));
    return folder;
}

bool write_fully(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool is_absent(int code) { return code == ENOENT || code == ENOTDIR; }

Error io_error(const fs::path& path, std::string_view doing, int code) {
    const bool is_full = code == ENOSPC || code == EDQUOT;
    std::string hint;
    if (is_full) hint = "free disk space (gpkg clean --all), then run the command again";
    Error error{code == ENOENT ? ErrorKind::NotFound : ErrorKind::Io,
                fmt::format("{}: cannot {}: {}", path.native(), doing, std::strerror(code)),
                std::move(hint),
                {}};
    if (code == ENOENT) error.missing_path = path.native();
    if (is_full) error.exception_name = "NoSpaceLeftError";
    return error;
}

}  // namespace gpkg
