#pragma once

// One reader and one writer for each format. Readers may leave the lock file unsorted; writers are
// given a sorted one.

#include "libcore/lock/lock_format.hpp"
#include "libcore/yaml/node.hpp"

namespace gpkg::lock {

Result<ReadLock> read_gpkg(const yaml::Node& root);
Result<ReadLock> read_pixi(const yaml::Node& root);
Result<ReadLock> read_conda_lock(const yaml::Node& root);

Result<std::string> write_gpkg(const LockFile& lock);
Result<std::string> write_pixi(const LockFile& lock, int version);
Result<std::string> write_conda_lock(const LockFile& lock);

}  // namespace gpkg::lock
