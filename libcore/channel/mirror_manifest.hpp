#pragma once

// What a mirror holds, so that who receives it can tell whether it is all there and nothing else:
// every file with its size and SHA-256. The file is a signed text (trust/signed_text.hpp); without
// a key it has no signatures.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

inline constexpr std::string_view kMirrorManifest = "manifest.json";

struct MirrorFile {
    std::uint64_t size = 0;
    std::string sha256;

    friend bool operator==(const MirrorFile&, const MirrorFile&) = default;
};

struct MirrorManifest {
    /// URLs by folder. Of channels that went as well: a name that was given stays that channel's.
    std::map<std::string, std::string> channels;
    std::map<std::string, MirrorFile> files;  ///< by path, relative to the mirror

    /// The text that is signed; not the same text where anything is not the same.
    std::string to_text() const;
    static Result<MirrorManifest> parse(std::string_view text, const std::string& what);

    friend bool operator==(const MirrorManifest&, const MirrorManifest&) = default;
};

/// Every file below `folder`, relative to it, the manifest and names that begin with "." left out.
/// What is neither a file nor a folder is an Integrity error.
Result<std::vector<std::string>> paths_in_mirror(const fs::path& folder);
/// The same files with what they hold.
Result<std::map<std::string, MirrorFile>> files_of_mirror(const fs::path& folder,
                                                          const std::function<bool()>& cancelled);
/// Those of `paths`, all of which are to be there.
Result<std::map<std::string, MirrorFile>> files_of_mirror(const fs::path& folder,
                                                          std::span<const std::string> paths,
                                                          const std::function<bool()>& cancelled);

/// How what lies there differs from what is said, a line each.
struct MirrorFaults {
    std::vector<std::string> missing;
    std::vector<std::string> changed;
    std::vector<std::string> unknown;  ///< of which the manifest says nothing
};
MirrorFaults compare(const MirrorManifest& manifest,
                     const std::map<std::string, MirrorFile>& found);

}  // namespace gpkg
