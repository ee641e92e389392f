#pragma once

#include "libcore/fs/file.hpp"

namespace gpkg {

/// Where files go that nobody keeps: TMPDIR, or where that is not set or on a file system that
/// machines share, SLURM_TMPDIR or /tmp where they are on a disk of this machine. /tmp where TMPDIR
/// is no folder.
fs::path folder_for_temporary();

/// Where many small files go that are gone soon, and of which one is made that will be in `folder`:
/// there, or where machines share that, on a disk of this one, if it has any.
fs::path folder_for_work(const fs::path& folder);

/// Eight hexadecimal digits that nobody guesses, for the name of a file that is not yet there.
std::string random_suffix();

/// "repodata.json.tmp-1a2b3c4d": what NewFile calls a file that does not have its name yet.
std::string temporary_name(const fs::path& path);

/// "repodata.json" of that, and "a-1-0.conda" of "a-1-0.conda.part-1a2b3c4d", which a download
/// calls it until it is whole; empty where it is the name of something else.
std::string_view name_of_unfinished(std::string_view name);

/// Marks the open file as one that a living process writes, until it is closed. False where
/// remove_dead_temporaries() was faster, and the file is gone.
bool keep_from_removal(const Descriptor& file);

/// Removes from `folder` what processes that are gone (killed) left of files that they wrote. On
/// file systems that machines share, where nobody can tell who is alive, what is a day old; on
/// others that cannot tell, nothing.
void remove_dead_temporaries(const fs::path& folder);
/// The same of what was to become this one file.
void remove_dead_temporaries_of(const fs::path& file);

}  // namespace gpkg
