#include "libcore/fs/workplace.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/process_identity.hpp"

#include <ctime>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {

namespace {

constexpr std::string_view kPrefix = ".tmp-";

bool is_abandoned(const fs::path& folder) {
    const auto name = folder.filename().native();
    if (!name.starts_with(kPrefix)) return false;
    const auto parts = split(std::string_view(name).substr(kPrefix.size()), '-');
    if (parts.size() != 3) return false;
    const auto world = process_world();
    if (!world.empty() && parts[0] == world) {
        const auto pid = whole_number<pid_t>(parts[1]);
        if (pid && *pid > 0) return is_gone(*pid);
    }
    constexpr std::time_t kDay = 86400;
    struct stat status {};
    return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_mtime + kDay < std::time(nullptr);
}

}  // namespace

std::string workplace_stem() {
    auto world = process_world();
    if (world.empty()) world = "unknown";
    return fmt::format("{}{}-{}-", kPrefix, world, ::getpid());
}

std::vector<fs::path> abandoned_workplaces(const fs::path& parent) {
    std::vector<fs::path> found;
    std::error_code code;
    for (fs::directory_iterator item(parent, code), end; !code && item != end;
         item.increment(code)) {
        if (is_abandoned(item->path())) found.push_back(item->path());
    }
    return found;
}

Result<TemporaryFolder> make_workplace(const fs::path& parent) {
    // Of others' nothing can be removed, and need not be.
    for (const auto& folder : abandoned_workplaces(parent)) static_cast<void>(remove_tree(folder));
    return TemporaryFolder::make(parent, workplace_stem());
}

}  // namespace gpkg
