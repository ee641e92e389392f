#pragma once

// Sources from git repositories. Used by source.cpp only.

#include "libcore/build/sources/source.hpp"

namespace gpkg {

/// The full id of the commit that a git source names. Asks the repository, unless the recipe gives
/// the id itself.
Result<std::string> resolve_git(const RecipeSource& source, const SourceFetchOptions& options);

/// Checks the commit out into `target`, with its history and its submodules. Commits are kept in
/// the cache, where nothing changes them.
Result<void> provide_git(const RecipeSource& source,
                         const fs::path& target,
                         const SourceFetchOptions& options);

}  // namespace gpkg
