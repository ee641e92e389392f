#pragma once

// What a build script left in the prefix, on its way into a package: found, checked, made
// relocatable and listed.

#include "libcore/package/paths.hpp"
#include "libcore/recipe/rendered.hpp"
#include "libcore/spec/canonical_placeholder.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// `folder` with a name below it that makes the path exactly kPlaceholderLength long.
Result<fs::path> build_prefix_below(const fs::path& folder);

/// Every file, link and folder below `prefix`, relative to it, sorted.
Result<std::set<std::string>> list_prefix(const fs::path& prefix);

/// Whether `build.files` leaves a path in.
bool is_chosen(const std::string& path, const RecipeBuild& build);

/// The files, links and empty folders that are below `prefix` and not in `before`, plus older ones
/// that the recipe asks for, less those it leaves out.
Result<std::vector<std::string>> new_files(const fs::path& prefix,
                                           const std::set<std::string>& before,
                                           const RecipeBuild& build);

struct Payload {
    std::vector<std::string> files;  ///< relative to the prefix, sorted
    std::vector<PathEntry> paths;    ///< what paths.json says of them
    std::vector<std::string> warnings;
};

/// Refuses what no package may hold (conda-meta, set-id programs, devices, links that lead out of
/// the prefix), makes absolute links relative, gives ELF files their library paths, and puts the
/// canonical placeholder where the files name the prefix.
Result<Payload> post_process(const fs::path& prefix,
                             std::vector<std::string> files,
                             const RecipeBuild& build,
                             int jobs,
                             const Cancelled& cancelled = {});

}  // namespace gpkg
