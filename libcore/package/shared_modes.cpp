#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/package/shared_modes_internal.hpp"

#include <cerrno>
#include <charconv>
#include <fcntl.h>

namespace gpkg {
namespace {

/// Not umask(), which would change it for the other threads. Where the system does not tell, all
/// that it could take away.
mode_t process_umask() {
    constexpr mode_t kUnknown = 0777;
    const auto status = read_file("/proc/self/status").value_or("");
    for (const auto line : split(status, '\n')) {
        if (!line.starts_with("Umask:")) continue;
        const auto digits = trim(line.substr(6));
        unsigned mask = 0;
        const auto [end, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), mask, 8);
        return code == std::errc() ? static_cast<mode_t>(mask) : kUnknown;
    }
    return kUnknown;
}

}  // namespace

// In a sticky folder everyone may write, and nobody take away what is another's.
SharedModes::SharedModes(mode_t like)
    : like_((like & S_ISVTX) != 0 ? like & ~mode_t{022} : like),
      umask_(like == 0 ? 0 : process_umask()) {}

int SharedModes::settle_folder(int parent, const char* name) const {
    if ((like_ & 0777U & umask_) == 0) return 0;
    const auto mode = (folder() & ~umask_) | (like_ & 02777U);
    return ::fchmodat(parent, name, mode, 0) == 0 ? 0 : errno;
}

int SharedModes::settle_file(int fd, mode_t usual) const {
    const auto lost = usual & like_ & umask_;
    if (lost == 0) return 0;
    return ::fchmod(fd, (usual & ~umask_) | lost) == 0 ? 0 : errno;
}

}  // namespace gpkg
