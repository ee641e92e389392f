#pragma once

#include "libcore/fs/descriptor.hpp"

#include <optional>
#include <string>
#include <sys/types.h>

namespace gpkg {

/// A user as the system's list has it.
struct SystemUser {
    std::string name;
    fs::path home;
};

/// Nothing for one that is not on it.
std::optional<SystemUser> system_user(uid_t user);

}  // namespace gpkg
