#pragma once

// Do the files of an environment still hold what its records promise?

#include "libcore/env/prefix_record.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gpkg {

struct InstalledDamage {
    std::string package;  ///< its name
    std::string path;
    std::string what;  ///< "is missing", "has 3 bytes, not 5", ...

    friend bool operator==(const InstalledDamage&, const InstalledDamage&) = default;
};

struct DamageSearch {
    bool contents = true;  ///< every byte is read; else types and sizes only
    std::size_t threads = 2;
    std::function<bool()> cancelled{};
    /// Called from one thread at a time with how many packages were looked at.
    std::function<void(std::size_t done)> progress{};
};

/// Every path that differs, in the order of `records`. Byte code does not count: python renews it.
/// Where several packages have a path, it is enough that one of them finds its own there. Of files
/// whose checksum nobody noted (records of old tools) only the presence is known; one that cannot
/// be read differs. Interrupted when cancelled.
Result<std::vector<InstalledDamage>> find_installed_damage(const fs::path& prefix,
                                                           const std::vector<PrefixRecord>& records,
                                                           const DamageSearch& how = {});

}  // namespace gpkg
