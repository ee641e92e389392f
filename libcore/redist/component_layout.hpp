#pragma once

// Where the files of a component's archive go in a prefix, and into which of its packages. One
// table of globs is behind the recipes' file lists and behind the check that no file is forgotten.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Parts of a component. Of those whose globs match a file the first has it.
enum class RedistPart {
    Docs,     ///< documents, samples, sources
    Stubs,    ///< libraries to link with where the driver is not installed
    Static,   ///< *.a
    Runtime,  ///< *.so.*
    Dev,      ///< headers, *.so links, pkg-config and CMake files, device code to link with
    /// What runs when an environment with the compiler is activated; gpkg's own, in no archive.
    Activation,
    Tools,  ///< programs and what they need
};

std::span<const RedistPart> redist_parts();
/// "runtime", for messages.
std::string_view part_name(RedistPart part);

/// The folder of `platform` below targets/: "x86_64-linux" of "linux-x86_64".
std::string target_folder(std::string_view platform);

struct RedistLayout {
    std::string target;  ///< "targets/x86_64-linux"
    std::string share;   ///< "share/cuda-cudart": of its documents
    /// Libraries called *.so that are files and no links: they belong to the runtime.
    std::vector<std::string> plain_libraries;

    /// Paths of a part in the prefix.
    std::vector<std::string> globs(RedistPart part) const;
};

/// The POSIX extended regular expression of the paths that a glob matches as whole file names.
std::string regex_of_glob(std::string_view glob);

/// The folders and files at the top of an archive that are documents, as shell patterns.
std::span<const std::string_view> document_entries();

/// What an archive holds, as far as recipes have to know it.
struct RedistListing {
    std::set<RedistPart> parts;                   ///< that have files
    std::vector<std::string> plain_libraries;     ///< see RedistLayout
    std::vector<std::string> strays;              ///< files that belong to no part
    std::map<std::string, RedistPart> libraries;  ///< shared ones by name; stubs are none
    /// By part, what its programs and libraries need: by name, glibc's and drivers' too.
    std::map<RedistPart, std::set<std::string>> needs;
    int newest_gcc = 0;  ///< the last major version that its headers compile with; 0: any
    bool has_license = false;
};

/// Looks into an archive, which is unpacked below `temporary` for that.
Result<RedistListing> list_redist_archive(const fs::path& archive,
                                          RedistLayout layout,
                                          const fs::path& temporary);

}  // namespace gpkg
