#include "libcore/env/room.hpp"

#include "libcore/base/byte_size.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/quota_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <limits>
#include <sys/statvfs.h>

namespace gpkg {
namespace {

constexpr auto kAny = std::numeric_limits<std::uint64_t>::max();

std::uint64_t left_of(const QuotaLimit& limit) {
    if (limit.limit == 0) return kAny;
    return limit.limit - std::min(limit.used, limit.limit);
}

std::string place_of(const FileSystem& system) {
    return fmt::format("{} at {}", system.title, system.mount_point.native());
}

std::string bytes_text(std::uint64_t bytes) { return byte_size_text(bytes); }
std::string files_text(std::uint64_t files) { return count_text(files, "file"); }

/// What bounds bytes or files.
struct Measure {
    QuotaLimit Quota::*of;
    std::string (*text)(std::uint64_t);
    std::uint64_t needed;
};

std::vector<Measure> measures(const RoomNeeded& needed) {
    return {{&Quota::bytes, bytes_text, needed.bytes}, {&Quota::files, files_text, needed.files}};
}

constexpr std::string_view kHowToFree = "free disk space (gpkg clean) and run the command again";
constexpr std::string_view kHowToKeepQuota =
    "remove unused packages: gpkg clean --all; use another file system: the settings envs_dirs and "
    "cache_dir; pack an environment into one file: gpkg image build";

}  // namespace

std::uint64_t Room::bytes_left() const {
    auto left = free_bytes;
    for (const auto& quota : quotas) left = std::min(left, left_of(quota.bytes));
    return left;
}

std::uint64_t Room::files_left() const {
    auto left = free_files.value_or(kAny);
    for (const auto& quota : quotas) left = std::min(left, left_of(quota.files));
    return left;
}

Result<Room> room_at(const fs::path& path, const AskProgram& ask) {
    const auto there = nearest_existing(path);
    struct statvfs system {};
    if (::statvfs(there.c_str(), &system) != 0)
        return pass(io_error(there, "determine its free space", errno));
    Room room;
    room.system = file_system_of(there);
    room.free_bytes = std::uint64_t{system.f_bavail} * system.f_frsize;
    room.all_bytes = std::uint64_t{system.f_blocks} * system.f_frsize;
    // Some file systems count no inodes and say 0 of 0.
    if (system.f_files != 0) room.free_files = system.f_favail;
    add_quotas(room, there, ask);
    std::erase_if(room.quotas, [](const Quota& quota) {
        return quota.bytes.limit == 0 && quota.files.limit == 0 && quota.bytes.soft == 0 &&
               quota.files.soft == 0;
    });
    return room;
}

Result<void> check_room(const Room& room, const fs::path& place, const RoomNeeded& needed) {
    for (const auto& quota : room.quotas) {
        for (const auto& measure : measures(needed)) {
            const auto& limit = quota.*measure.of;
            const auto left = left_of(limit);
            if (measure.needed == 0 || measure.needed <= left) continue;
            return fail(
                ErrorKind::Conflict,
                fmt::format(
                    "{}: needs {} more, but the quota of {} on {} leaves {} ({} of {} used)",
                    place.native(),
                    measure.text(measure.needed),
                    quota.whose,
                    place_of(room.system),
                    measure.text(left),
                    measure.text(limit.used),
                    measure.text(limit.limit)),
                std::string(kHowToKeepQuota));
        }
    }
    if (needed.bytes > room.free_bytes)
        return fail(ErrorKind::Io,
                    fmt::format("{}: needs {} bytes, but the file system has {} left",
                                place.native(),
                                needed.bytes,
                                room.free_bytes),
                    std::string(kHowToFree));
    if (room.free_files && needed.files > *room.free_files)
        return fail(ErrorKind::Io,
                    fmt::format("{}: needs {}, but the file system allows {} more",
                                place.native(),
                                files_text(needed.files),
                                *room.free_files),
                    std::string(kHowToFree));
    return {};
}

std::vector<std::string> tight_room(const Room& room, const RoomNeeded& needed) {
    std::vector<std::string> notes;
    for (const auto& quota : room.quotas) {
        for (const auto& measure : measures(needed)) {
            const auto& limit = quota.*measure.of;
            if (measure.needed == 0) continue;
            const auto then = limit.used + measure.needed;
            if (limit.soft != 0 && then > limit.soft)
                notes.push_back(
                    fmt::format("this change exceeds the soft quota of {} on {}: {} of {}; the "
                                "excess must be removed within days",
                                quota.whose,
                                place_of(room.system),
                                measure.text(then),
                                measure.text(limit.soft)));
            else if (limit.limit != 0 && then > limit.limit / 10 * 9)
                notes.push_back(fmt::format(
                    "after this change the quota of {} on {} is {:.0f} % used: {} of {}",
                    quota.whose,
                    place_of(room.system),
                    100 * static_cast<double>(then) / static_cast<double>(limit.limit),
                    measure.text(then),
                    measure.text(limit.limit)));
        }
    }
    return notes;
}

std::string quota_text(const Quota& quota) {
    const auto most = [](const QuotaLimit& limit) {
        return limit.limit != 0 ? limit.limit : limit.soft;
    };
    std::string text = quota.whose + ": ";
    if (const auto bytes = most(quota.bytes); bytes != 0)
        text += fmt::format("{} of {}", byte_size_text(quota.bytes.used), byte_size_text(bytes));
    if (const auto files = most(quota.files); files != 0)
        text += fmt::format(
            "{}{} of {} files", text.ends_with(' ') ? "" : ", ", quota.files.used, files);
    return text;
}

}  // namespace gpkg
