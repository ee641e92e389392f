#pragma once

// What this user may still put on a file system: its free room, and the quotas that the kernel, or
// the file system's own program, tells of. Sites give users so many bytes and so many files; what
// goes beyond that fails half-way with "Disk quota exceeded".

#include "libcore/base/error.hpp"
#include "libcore/fs/file_system.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct QuotaLimit {
    std::uint64_t used = 0;
    std::uint64_t limit = 0;  ///< nothing goes beyond it; 0: there is none
    std::uint64_t soft = 0;   ///< what goes beyond it does so for some days only; 0: there is none

    friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};

struct Quota {
    std::string whose;  ///< "user alice", "group ml", "project 7"
    QuotaLimit bytes;
    QuotaLimit files;
};

struct Room {
    FileSystem system;
    std::uint64_t free_bytes = 0;
    std::uint64_t all_bytes = 0;
    std::optional<std::uint64_t> free_files;  ///< nothing where the file system counts none
    std::vector<Quota> quotas;                ///< those with a limit
    std::string trouble;                      ///< why quotas are not known, where there may be some

    /// The least that any of them leaves.
    std::uint64_t bytes_left() const;
    std::uint64_t files_left() const;
};

/// Asks a program, and has its output in time or not at all.
using AskProgram =
    std::function<std::optional<std::string>(const std::vector<std::string>& command)>;
/// For a program that may wait for a server that does not answer: it is left behind then.
AskProgram ask_within(std::chrono::milliseconds longest);

/// At a path that need not be there yet. Root is not told of users' quotas, which do not bind it.
Result<Room> room_at(const fs::path& path,
                     const AskProgram& ask = ask_within(std::chrono::seconds(5)));

/// What `lfs quota -q` and `quota -v -w -p -u -g` say; `now` tells whether the time is over for
/// which a soft limit may be exceeded. Nothing for what is no such answer.
std::optional<Quota> quota_told_by_lfs(std::string_view output);
std::vector<Quota> quotas_told_by_quota(std::string_view output, std::int64_t now);

struct RoomNeeded {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
};

/// Refuses what goes beyond the room, naming what bounds it, what is used, and what helps.
Result<void> check_room(const Room& room, const fs::path& place, const RoomNeeded& needed);
/// What fits, and leaves less than a tenth of a quota or goes beyond a soft limit: a sentence each.
std::vector<std::string> tight_room(const Room& room, const RoomNeeded& needed);

/// "user alice: 9.5 GB of 10 GB, 1200 of 100000 files"
std::string quota_text(const Quota& quota);

}  // namespace gpkg
