#pragma once

// Where the files of a component's archive go in a prefix, and into which of its packages. One
// table of globs is behind the recipes' file lists and behind the check that no file is forgotten.

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

/// The licence, at the top of an archive: a file of the build that goes with every package.
inline constexpr std::string_view kRedistLicense = "LICENSE";

/// What lies in one folder of an archive goes into one of the prefix.
struct RedistMove {
    std::string from;
    std::string to;
};

struct RedistLayout {
    std::string target;  ///< "targets/x86_64-linux"
    std::string share;   ///< "share/cuda-cudart": of its documents
    /// Libraries called *.so that are files and no links: they belong to the runtime.
    std::vector<std::string> plain_libraries;

    /// The first that matches a file tells where it goes: here, and in the recipes' script. What
    /// none matches keeps its path, but documents, which go to `share`.
    std::vector<RedistMove> moves() const;
    /// Where a file of an archive goes. Empty: it is the licence.
    std::string place_of(const std::string& path) const;
    /// Whether something of an archive is a link that stands for a folder which is moved.
    bool is_left_out(const std::string& path, bool leads_to_folder) const;
    /// Paths of a part in the prefix.
    std::vector<std::string> globs(RedistPart part) const;
};

/// The POSIX extended regular expression of the paths that a glob matches as whole file names.
std::string regex_of_glob(std::string_view glob);

/// The folders and files at the top of an archive that are documents, as shell patterns.
std::span<const std::string_view> document_entries();

}  // namespace gpkg
