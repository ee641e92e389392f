#include "libcore/base/text.hpp"
#include "libcore/fs/process_identity.hpp"
#include "libcore/package/workplace_internal.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {

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
