#pragma once

// Staging outputs (CEP 41): built once, kept aside, laid out again for each output that inherits
// them. Used by the builder only.

#include "libcore/build/build_place.hpp"
#include "libcore/build/environments.hpp"
#include "libcore/build/payload.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// What an output left, as it was before anything was done to it.
struct StagedOutput {
    fs::path files;                  ///< what it added to its prefix
    std::vector<std::string> paths;  ///< files, links and empty folders below it
    fs::path work;                   ///< its work folder
    /// That it was built in, after those that it inherits run_exports from.
    std::vector<BuildEnvironments> environments;
    std::vector<EnvironmentUse> uses;  ///< of every environment that had a part in it
};

/// Moves what is new in the prefix, and the work folder, to `aside`.
Result<StagedOutput> set_aside(const BuildPlace& place,
                               const std::set<std::string>& before,
                               const fs::path& aside);

/// Copies the staged files that are `wanted` into the prefix. What is there already stays: a
/// package of the host environment brought it.
Result<void> restore_files(const StagedOutput& staged,
                           const fs::path& prefix,
                           const std::function<bool(const std::string&)>& wanted,
                           const Cancelled& cancelled);

/// When the files below `folder` were written and how large they are.
using FileStamps = std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>>;
Result<FileStamps> stamps_of(const fs::path& folder);

/// The files of `before` that were changed since, for a warning.
Result<std::vector<std::string>> overwritten(const FileStamps& before, const fs::path& folder);

}  // namespace gpkg
