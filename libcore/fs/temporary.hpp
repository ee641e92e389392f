#pragma once

#include "libcore/fs/file.hpp"

namespace gpkg {

/// Where files go that nobody keeps: TMPDIR, or /tmp where that is no folder.
fs::path folder_for_temporary();

/// Eight hexadecimal digits that nobody guesses, for the name of a file that is not yet there.
std::string random_suffix();

/// "repodata.json.tmp-1a2b3c4d": what NewFile calls a file that does not have its name yet.
std::string temporary_name(const fs::path& path);

/// Marks the open file as one that a living process writes, until it is closed. False where
/// remove_dead_temporaries() was faster, and the file is gone.
bool keep_from_removal(const Descriptor& file);

/// Removes from `folder` what processes that are gone (killed) left of files that they wrote.
/// Nothing where the file system cannot tell who is alive.
void remove_dead_temporaries(const fs::path& folder);
/// The same of what was to become this one file.
void remove_dead_temporaries_of(const fs::path& file);

}  // namespace gpkg
