#pragma once

// Whether the loader finds the libraries that files need where packages have them.

#include "libcore/build/checks/binary_checks.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

class LibraryPaths {
public:
    /// `given` are the files of the package and of its run dependencies, relative to the prefix.
    LibraryPaths(const BinaryCheck& check,
                 const std::vector<Binary>& binaries,
                 std::set<std::string> given);

    /// Whether the file's own library path leads to the library. That of a library may also be
    /// found by what loads it: by the DT_RPATH of others in the package, and of programs of the
    /// environment, which have its lib folder.
    bool leads_to(const Binary& binary, const std::string& library) const;

    /// Where the package or a run dependency has it, for the advice.
    std::vector<std::string> places_of(const std::string& library) const;

    bool is_given(const std::string& path) const { return given_.contains(path); }

    /// "lib/libz.so.1" of a path below the prefix, which may stand as the canonical placeholder.
    std::optional<std::string> inside(std::string_view path) const;
    /// Whether the path is one of the build, which no other machine has.
    bool is_of_build(std::string_view path) const;

private:
    bool is_in(const fs::path& folder, const std::string& library) const;
    bool leads_from(const std::vector<std::string>& entries,
                    const std::string& folder,
                    const std::string& library) const;

    const BinaryCheck& check_;
    const std::vector<Binary>& binaries_;
    std::set<std::string> given_;
    fs::path real_prefix_;
    std::multimap<std::string, std::string> link_folders_;  ///< file -> folders with a link to it
};

}  // namespace gpkg
