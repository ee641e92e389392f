#include "libcore/fs/system_user.hpp"

#include <array>
#include <pwd.h>

namespace gpkg {

std::optional<SystemUser> system_user(uid_t user) {
    std::array<char, 4096> room{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    ::getpwuid_r(user, &entry, room.data(), room.size(), &found);
    if (found == nullptr) return std::nullopt;
    return SystemUser{found->pw_name, found->pw_dir};
}

}  // namespace gpkg
