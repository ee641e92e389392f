#include "libcore/channel/fetch_shards.hpp"
#include "libcore/channel/shard_cache_internal.hpp"
#include "libcore/net/url.hpp"

namespace gpkg {
namespace {

constexpr auto kSweepEvery = std::chrono::hours(24);
constexpr auto kUnusedFor = 7 * kSweepEvery;

/// The entries of a folder as they are now; others may be at work in it.
std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code code;
    for (fs::directory_iterator entries(folder, code), end; !code && entries != end;
         entries.increment(code))
        paths.push_back(entries->path());
    return paths;
}

/// The file names that must stay: shards that an index names, indexes that a list belongs to. Also
/// the channel's index before the last is there: another process may be at work with it.
Result<NameSet> names_in_use(const fs::path& cache) {
    NameSet names;
    for (const auto& path : entries_of(cache)) {
        if (!path.native().ends_with(shard_cache::kShard)) continue;
        GPKG_TRY(const auto bytes, read_file(path));
        // What cannot be read may name any.
        GPKG_TRY(const auto index, read_shard_index(bytes, file_url(path)));
        for (const auto& entry : index.entries())
            names.insert(shard_cache::shard_file(cache, to_hex(entry.hash)).filename());
    }
    for (const auto& path : entries_of(shard_cache::folder(cache))) {
        if (!path.native().ends_with(shard_cache::kList)) continue;
        if (const auto list = read_file(path))
            names.insert(
                shard_cache::index_name(path.stem().native(), shard_cache::lasting_part(*list)));
    }
    return names;
}

}  // namespace

Result<void> remove_old_shards(const fs::path& cache, fs::file_time_type now) {
    const auto folder = shard_cache::folder(cache);
    const auto stamp = folder / "swept";
    std::error_code code;
    if (!fs::exists(folder, code)) return {};
    const auto swept = fs::last_write_time(stamp, code);
    if (!code && now - swept < kSweepEvery && swept <= now) return {};
    GPKG_CHECK(write_file_atomically(stamp, ""));
    fs::last_write_time(stamp, now, code);

    GPKG_TRY(const auto in_use, names_in_use(cache));
    for (const auto& path : entries_of(folder)) {
        const auto name = path.filename().native();
        const auto age = now - fs::last_write_time(path, code);
        if (code || in_use.contains(name)) continue;
        const bool is_left_over = name.find(".part-") != std::string::npos ||
                                  name.find(".tmp-") != std::string::npos ||
                                  name.ends_with(shard_cache::kIndex);
        const bool is_old_shard = name.ends_with(shard_cache::kShard) && age > kUnusedFor;
        if (is_old_shard || (is_left_over && age > kSweepEvery)) fs::remove(path, code);
    }
    return {};
}

}  // namespace gpkg
