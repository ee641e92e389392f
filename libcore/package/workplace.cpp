#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/package/workplace_internal.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {
namespace {

/// Where a process number means what it means to us: this boot, this process namespace. Two
/// containers of one machine differ. Empty when /proc does not tell.
std::string process_world() {
    const auto boot = read_file("/proc/sys/kernel/random/boot_id");
    std::error_code code;
    const auto processes = fs::read_symlink("/proc/self/ns/pid", code);
    if (!boot || code) return {};
    return hex_digest(DigestKind::Sha256, *boot + processes.native()).substr(0, 16);
}

}  // namespace

std::string workplace_stem() {
    auto world = process_world();
    if (world.empty()) world = "unknown";
    return fmt::format("{}{}-{}-", kWorkplacePrefix, world, ::getpid());
}

bool is_abandoned(const fs::path& folder) {
    const auto name = folder.filename().native();
    const auto parts = split(std::string_view(name).substr(kWorkplacePrefix.size()), '-');
    const auto world = process_world();
    if (parts.size() == 3 && !world.empty() && parts[0] == world) {
        int pid = 0;
        const auto* end = parts[1].data() + parts[1].size();
        const auto [stop, code] = std::from_chars(parts[1].data(), end, pid);
        if (code == std::errc() && stop == end && pid > 0)
            return ::kill(pid, 0) != 0 && errno == ESRCH;
    }
    constexpr std::time_t kDay = 86400;
    struct stat status {};
    return ::lstat(folder.c_str(), &status) == 0 && status.st_mtime + kDay < std::time(nullptr);
}

}  // namespace gpkg
