#pragma once

// Hotfixes: what a channel's index says of packages in place of what they say themselves. They
// stand in <subdir>/patch_instructions.json, where conda-index keeps them, and hold until that file
// goes. What is known of the packages stays as it is: without the file, the index is the old one.
//
//   {"patch_instructions_version": 1,
//    "packages": {"a-1-0.tar.bz2": {"depends": ["b >=1,<2"], "license": null}},
//    "packages.conda": {"c-1-0.conda": {"constrains": []}},
//    "revoke": ["d-1-0.conda"],      made uninstallable, by a dependency that nothing provides
//    "remove": ["e-1-0.tar.bz2"]}    out of the index, the file stays
//
// What is said of a .tar.bz2 holds for the .conda of the same name too. null takes a field away.
// Version 2 (CEP 21) may also give "run_exports".

#include "libcore/indexing/indexed_package.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

inline constexpr const char* kPatchName = "patch_instructions.json";

class PatchInstructions {
public:
    /// Refuses what no index may say otherwise than the package (its checksums, name, version ...),
    /// dependencies that cannot be read, and newer versions. `what` is named in errors.
    static Result<PatchInstructions> parse(std::string_view text, const std::string& what);

    bool removes(const std::string& file) const;
    /// Whether anything but `removes` concerns the file.
    bool changes(const std::string& file) const;

    struct Patched {
        std::string record;
        std::optional<std::string> run_exports;
    };
    /// The package's record and run_exports, changed.
    Patched apply(const std::string& file, const IndexedPackage& package) const;

    /// File names that it speaks of and that fit none of `files`.
    std::vector<std::string> unmatched(const std::map<std::string, IndexedPackage>& files) const;

private:
    std::map<std::string, std::string> fields_;  ///< file -> JSON object
    std::set<std::string> revoked_;
    std::set<std::string> removed_;
};

/// Brings the patch at `source` in force: writes <subdir>/patch_instructions.json for the channel's
/// subdirs and takes it from those that the patch leaves out. `source` is a folder that holds
/// <subdir>/patch_instructions.json, a package (.conda, .tar.bz2) of such folders, or one such file
/// in a folder that is named for its subdir, which changes that subdir alone. All is checked first.
Result<void> adopt_patch(const fs::path& channel, const fs::path& source);

/// Takes the patches away from all subdirs of the channel.
Result<void> drop_patch(const fs::path& channel);

}  // namespace gpkg
