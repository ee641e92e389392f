#include "cli/workflow/bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

constexpr auto kUnbounded = ~std::uint64_t{0};

/// A package in the store has a folder, info/, and in that three files at least.
constexpr std::uint64_t kFewestFiles = 5;

}  // namespace

Result<std::optional<Room>> check_downloads(const fs::path& store,
                                            const std::vector<PackageRecord>& fetch,
                                            const ChangeOptions& options) {
    if (fetch.empty()) return std::nullopt;
    RoomNeeded needed;
    for (const auto& record : fetch) needed.bytes += record.size;
    needed.files = kFewestFiles * fetch.size();
    if (needed.bytes > options.most_bytes)
        return fail(ErrorKind::Conflict,
                    fmt::format("--max-size {} exceeded: the packages to download are {}",
                                human_size(options.most_bytes),
                                human_size(needed.bytes)),
                    "nothing was changed; to see the size of each dependency: gpkg closure");
    auto room = room_at(store);
    if (!room) return std::nullopt;  // that says whoever writes there
    // Nothing is smaller unpacked.
    GPKG_CHECK(check_room(*room, store, needed));
    return std::optional(*std::move(room));
}

std::shared_ptr<Allowance> allowance_of(const ChangeOptions& options,
                                        const std::optional<Room>& room) {
    auto allowance = std::make_shared<Allowance>();
    allowance->bytes = options.most_bytes;
    allowance->inodes = options.most_inodes;
    std::vector<std::string> bounds;
    if (options.most_bytes != kUnbounded)
        bounds.push_back("--max-size " + human_size(options.most_bytes));
    if (options.most_inodes != kUnbounded)
        bounds.push_back(fmt::format("--max-inodes {}", options.most_inodes));
    if (room) {
        for (const auto& quota : room->quotas)
            bounds.push_back(
                fmt::format("the quota on {} ({})", room->system.title, quota_text(quota)));
        if (!room->quotas.empty()) {
            allowance->bytes = std::min(options.most_bytes, room->bytes_left());
            allowance->inodes = std::min(options.most_inodes, room->files_left());
        }
    }
    if (bounds.empty()) return {};
    allowance->bounds = fmt::format("{}", fmt::join(bounds, ", "));
    return allowance;
}

}  // namespace gpkg::cli
