#include "libcore/base/text.hpp"
#include "libcore/env/planner_internal.hpp"
#include "libcore/env/room.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {
namespace {

/// Whether reflinks can be expected there; only trying tells. The magic numbers are statfs(2)'s.
bool is_known_for_reflinks(const fs::path& folder) {
    constexpr unsigned kBtrfs = 0x9123683eU;
    constexpr unsigned kXfs = 0x58465342U;
    constexpr unsigned kBcachefs = 0xca451a4eU;
    struct statfs system {};
    if (::statfs(folder.c_str(), &system) != 0) return false;
    const auto type = static_cast<unsigned>(system.f_type);
    return type == kBtrfs || type == kXfs || type == kBcachefs;
}

/// The path with the case of its last letters turned, to see whether it names the same thing.
bool ignores_case(fs::path folder) {
    std::error_code code;
    while (!folder.empty() && folder != folder.root_path()) {
        auto name = folder.filename().native();
        bool letters = false;
        for (char& c : name) {
            const bool lower = c >= 'a' && c <= 'z';
            if (!lower && !(c >= 'A' && c <= 'Z')) continue;
            c = static_cast<char>(lower ? c - 32 : c + 32);
            letters = true;
        }
        if (letters && fs::exists(folder, code))
            return fs::equivalent(folder, folder.parent_path() / name, code);
        folder = folder.parent_path();
    }
    return false;
}

/// fs.protected_hardlinks: who does not own a file must be able to write to it.
bool may_hard_link(const PackagePlan& package) {
    static const bool is_protected =
        read_file("/proc/sys/fs/protected_hardlinks").value_or("0").starts_with('1');
    if (!is_protected || ::geteuid() == 0) return true;
    for (const auto& item : package.items) {
        struct stat status {};
        const auto file = package.unpacked / item.source;
        if (item.kind != LinkKind::Link || ::lstat(file.c_str(), &status) != 0) continue;
        return status.st_uid == ::geteuid() || ::access(file.c_str(), R_OK | W_OK) == 0;
    }
    return true;
}

// What files take, in blocks as du counts them; of records, which are written last, an estimate.
constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kRecordBytes = 2000;
constexpr std::uint64_t kRecordBytesOfPath = 350;
/// The history, a generation and its folder, the state.
constexpr std::uint64_t kNotes = 4;

std::uint64_t on_disk(std::uint64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

}  // namespace

Result<void> Planner::check_case() {
    if (!ignores_case(transaction_.prefix)) return {};
    std::unordered_map<std::string, std::string_view> seen;
    for (const auto& [path, place] : arriving_) {
        const auto [other, fresh] = seen.emplace(to_lower(path), path);
        if (!fresh)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: {} and {} differ only in the case of letters, which this "
                                    "file system ignores",
                                    transaction_.prefix.native(),
                                    std::min(other->second, path),
                                    std::max(other->second, path)));
    }
    return {};
}

Result<void> Planner::check_space() {
    auto& cost = plan_.cost;
    const auto folder = nearest_existing(transaction_.prefix);
    struct stat here {};
    if (::stat(folder.c_str(), &here) != 0) return pass(io_error(folder, "access", errno));
    for (auto& package : plan_.packages) {
        struct stat there {};
        if (::stat(package.unpacked.c_str(), &there) != 0)
            return pass(io_error(package.unpacked, "access", errno));
        const bool shares = here.st_dev == there.st_dev && options_.link != LinkMethod::Copy &&
                            may_hard_link(package);
        package.reflinks_first = shares && is_known_for_reflinks(package.unpacked);
        const bool reflinks = options_.link == LinkMethod::Reflink ||
                              (options_.link == LinkMethod::Auto && package.reflinks_first);
        cost.new_bytes += on_disk(kRecordBytes + kRecordBytesOfPath * package.items.size());
        for (const auto& item : package.items) {
            if (item.skipped) continue;
            ++cost.files;
            if (item.kind == LinkKind::Folder) continue;
            if (item.kind == LinkKind::Link && shares && !reflinks) continue;
            ++cost.new_inodes;
            if (item.kind == LinkKind::SoftLink || (item.kind == LinkKind::Link && shares))
                continue;
            cost.new_bytes += on_disk(item.size);
        }
    }
    // The folders, the records, and what the change is noted in.
    cost.new_inodes += plan_.journal.arriving_folders.size() + plan_.packages.size() + kNotes;
    cost.new_bytes += kNotes * kBlock;

    if (!options_.check_room) return {};
    // What the room is nobody tells here.
    const auto room = room_at(folder);
    if (!room) return {};
    const RoomNeeded needed{cost.new_bytes, cost.new_inodes};
    cost.notes = tight_room(*room, needed);
    return check_room(*room, transaction_.prefix, needed);
}

}  // namespace gpkg
