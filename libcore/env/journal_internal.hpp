#pragma once

// The journal of a transaction on disk, and the two ways out of it. transaction.hpp tells what it
// promises; nothing here knows of packages.

#include "libcore/env/disk_internal.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

inline constexpr std::string_view kJournalFolder = "conda-meta/.gpkg-transaction";

/// What plan.json holds. Paths are relative to the prefix.
struct JournalPlan {
    bool made_prefix = false;           ///< going back removes the prefix as well
    bool made_meta = false;             ///< conda-meta came with the journal
    std::vector<std::string> leaving;   ///< renamed to old/<place in this list>; also empty folders
    std::vector<std::string> arriving;  ///< files and links that were not there
    std::vector<std::string> arriving_folders;
    /// What becomes of some in `leaving` in place of being deleted.
    struct Saved {
        std::size_t leaving = 0;
        std::string path;
    };
    std::vector<Saved> saved;
    std::vector<std::string> records;  ///< paths in records/, renamed into conda-meta
    std::vector<std::string> dropped;  ///< names in conda-meta, removed
    std::vector<std::string> sources;  ///< the unpacked packages, where files have another name
    std::vector<std::string>
        emptied;  ///< folders removed if nothing is left in them, deepest first
    /// .pyc files of removed sources that nobody recorded: "a/__pycache__/" and "b.".
    struct Cache {
        std::string folder;
        std::string stem;
    };
    std::vector<Cache> caches;
    std::string command;             ///< the command line that started the change
    std::uint64_t history_size = 0;  ///< before the block
    std::string history_replaced;    ///< that the block takes the place of; empty: nothing
    std::string history_block;       ///< empty: the history stays

    std::string to_json() const;
    static Result<JournalPlan> parse(std::string_view text, std::string_view what);
};

/// "conda-meta/.gpkg-transaction/NAME".
std::string journal_path(std::string_view name);
/// Where leaving path `place` is kept.
std::string old_path(std::size_t place);

/// Where a prefix that does not exist is prepared: beside it, so that one rename makes it appear.
fs::path staging_path(const fs::path& prefix);

/// Where a prefix that is removed lies until all of it is gone: ".e.gpkg-removed". Where earlier
/// removals could not delete everything there, ".e.gpkg-removed-2" and so on.
fs::path grave_path(const fs::path& prefix, int number = 1);

/// Makes the journal's folders and plan.json, synced.
Result<void> write_journal(Disk& disk, const JournalPlan& plan);
/// The marks `linking` and `committed`; `single`: something has no second name; `untold`: scripts
/// and copying put files there from now on that nobody planned. What can then not be told from the
/// user's, going back takes for the transaction's.
Result<void> mark(Disk& disk, std::string_view name);

/// Undoes everything from any point before `committed`, and removes the journal. Can be repeated.
/// Files that others put there meanwhile stay, under NAME.gpkg-saved where an old one returns; a
/// prefix that was being made then stays as the folder that holds them.
Result<void> roll_back(Disk& disk, const JournalPlan& plan);
/// Finishes everything from any point after `committed`, and removes the journal. Can be repeated.
Result<void> finish(Disk& disk, const JournalPlan& plan);

}  // namespace gpkg
