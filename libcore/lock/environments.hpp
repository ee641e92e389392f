#pragma once

// The environments of a lock file, of which conda-lock's are called categories.

#include "libcore/base/error.hpp"
#include "libcore/lock/lock_file.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What conda-lock calls the default environment.
inline constexpr std::string_view kMainCategory = "main";

/// As the file's format calls it: "environment test", "category main".
std::string environment_title(const LockFile& lock, const std::string& environment);

/// As gpkg.lock names the class: "linux-64", of another environment "test/linux-64".
std::string full_name(const LockedClass& locked);

/// The index of the class that `text` means: the one of this name, else the only one whose name
/// continues it, as "a100-glibc-2.36" continues "a100".
std::optional<std::size_t> class_index(const std::vector<std::string>& names,
                                       std::string_view text);

/// The environments with packages for the platform beside the default one; empty: for any.
std::vector<std::string> other_environments(const LockFile& lock, std::string_view platform = {});

/// The lock as if the environment `name` were the default one and nothing else had been locked.
/// NotFound, with near names, where there is none of that name or nothing is in it.
Result<LockFile> lock_of_environment(const LockFile& lock, const std::string& name);

}  // namespace gpkg
