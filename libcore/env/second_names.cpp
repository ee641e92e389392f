#include "libcore/env/journal_internal.hpp"
#include "libcore/env/second_names_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <system_error>

namespace gpkg {
namespace {

std::string folder() { return journal_path("new"); }

/// Two names for one file cannot be had there.
bool has_no_links(int code) {
    switch (code) {
    case EPERM:
    case EACCES:
    case EOPNOTSUPP:
    case ENOSYS:
    case EXDEV:
    case EINVAL:
    case EMLINK: return true;
    default: return false;
    }
}

}  // namespace

Result<void> SecondNames::prepare(Disk& disk) {
    if (const int code = disk.make_folder(folder()); code != 0)
        return pass(disk.error(folder(), "make", code));
    const auto trial = folder() + "/plan";
    const int code = disk.hard_link(disk.root(), journal_path("plan.json"), trial);
    if (code != 0 && !has_no_links(code)) return pass(disk.error(trial, "link", code));
    struct stat status {};
    // Some file systems have links and do not count them.
    if (code != 0 || disk.look(trial, status) != 0 || status.st_nlink < 2)
        disk.remove_tree(folder());
    return {};
}

SecondNames::SecondNames(Disk& disk)
    : disk_(disk), prepared_(disk.exists(folder()).value_or(false)) {}

int SecondNames::make(const std::string& target,
                      const std::function<int(const std::string& name)>& make) {
    if (!prepared_) return make(target);
    const auto second = fmt::format("{}/{}", folder(), count_++);
    if (const int code = make(second); code != 0) return code;
    const int code = disk_.hard_link(disk_.root(), second, target);
    if (code == 0 || !has_no_links(code)) return code;
    // Something is mounted there, or soft links have no second names here.
    if (!mark(disk_, "single")) return EIO;
    return make(target);
}

Result<IsTheirs> IsTheirs::make(const Disk& disk, const std::vector<std::string>& sources) {
    GPKG_TRY(const bool prepared, disk.exists(folder()));
    GPKG_TRY(const bool single, disk.exists(journal_path("single")));
    GPKG_TRY(const bool untold, disk.exists(journal_path("untold")));
    bool can_tell = prepared && !single && !untold;
    for (const auto& source : sources) {
        GPKG_TRY(const bool there, path_exists(source));
        can_tell = can_tell && there;
    }
    return IsTheirs(can_tell);
}

bool IsTheirs::operator()(std::string_view path, const struct stat& status) const {
    if (S_ISDIR(status.st_mode)) return true;
    return can_tell_ && status.st_nlink == 1 && !path.ends_with(".pyc") && path != ".messages.txt";
}

}  // namespace gpkg
