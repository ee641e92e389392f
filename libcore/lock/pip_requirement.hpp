#pragma once

// A package of PyPI as a lock file has it, and as pip is asked for it. The lock files write places
// as pixi and conda-lock do; pip reads them otherwise. What it reads is told by its documentation:
// "Requirements File Format", "VCS Support" (a commit stands after '@', of the fragment only
// subdirectory and egg count) and "Secure installs" (one hash of a file makes pip ask for hashes of
// all, and a repository or a folder cannot have one).

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/lock/lock_file.hpp"

#include <string>

namespace gpkg {

struct PipRequirement {
    std::string line;           ///< of a requirements file; a path is one of the lock's folder
    bool has_hash = false;      ///< it goes into a run of pip where all have one
    bool lacks_commit = false;  ///< of a repository: what is there on the day is what comes
};

/// As a lock file in the folder `to` has what one in `from` has: a relative path leads to the same
/// place. Both are absolute.
ForeignPackage moved(ForeignPackage package, const fs::path& from, const fs::path& to);

/// An error where pip would read something else than the one package.
Result<PipRequirement> pip_requirement(const ForeignPackage& package);

}  // namespace gpkg
