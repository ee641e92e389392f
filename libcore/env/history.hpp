#pragma once

// conda-meta/history: what was done to an environment, block by block (CEP 32), in conda's words.
//
//     ==> 2026-08-21 10:00:00 <==
//     # cmd: gpkg install numpy
//     # gpkg version: 0.1.0
//     +conda-forge/linux-64::numpy-2.1.0-py312h1_0
//     # update specs: ['numpy']

#include "libcore/base/error.hpp"
#include "libcore/spec/package_record.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct HistoryEntry {
    std::string time;     ///< "2026-08-21 10:00:00"; local time, as conda writes it
    std::string command;  ///< the command line
    std::string tool = "gpkg";
    std::string tool_version;
    std::vector<std::string> added;    ///< "channel/subdir::name-version-build"
    std::vector<std::string> removed;  ///< the same
    std::vector<std::string> update_specs;
    std::vector<std::string> remove_specs;
    std::vector<std::string> neutered_specs;  ///< of requests that a later one overrode

    friend bool operator==(const HistoryEntry&, const HistoryEntry&) = default;
};

/// Reads a history. Never fails: lines that no tool writes are passed over.
std::vector<HistoryEntry> parse_history(std::string_view text);

/// The block of one entry, ready to be appended.
std::string to_text(const HistoryEntry& entry);

/// "channel/subdir::name-version-build", as blocks have packages.
std::string history_text(const PackageRecord& record);

/// The packages after the last block, as conda reads it: a block with neither + nor - is the whole
/// state, an environment without packages.
std::vector<std::string> packages_in(const std::vector<HistoryEntry>& history);

/// Sets what the entry adds and removes: the difference from the packages of the history to
/// `packages`. Channels, which every tool writes differently, do not count.
void set_difference(HistoryEntry& entry,
                    const std::vector<HistoryEntry>& history,
                    const std::vector<std::string>& packages);

/// The last block of a history, to its end; empty where there is none.
std::string_view last_block(std::string_view history);
/// That block with the requests of a later command that changed no package.
std::string with_requests(std::string_view block, const HistoryEntry& later);

/// Specs the user asked for and did not take back, in the order in which they were asked for: later
/// requests come after earlier ones, and what is asked for again keeps its place. A package may
/// have several, of one entry.
std::vector<std::string> requested_specs(const std::vector<HistoryEntry>& history);
/// The same by package name; never empty.
std::map<std::string, std::vector<std::string>> requested_by_name(
    const std::vector<HistoryEntry>& history);

/// The name in a spec, without channel: "numpy" of "conda-forge::numpy[version='>=2']".
std::string spec_name(std::string_view spec);

/// "2026-08-21 10:00:00", now, local time.
std::string history_time();

}  // namespace gpkg
