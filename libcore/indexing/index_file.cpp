#include "libcore/indexing/index_file.hpp"

#include "libcore/base/parallel.hpp"

#include <algorithm>

namespace gpkg {
namespace {

/// Level 16 takes 20 s for 60 MB of repodata and saves a fifth of level 1, which takes 0.15 s. What
/// is this large, clients get in shards.
constexpr std::size_t kLarge = std::size_t{16} << 20U;
constexpr int kLevel = 16;
constexpr int kLevelOfLarge = 1;

}  // namespace

bool holds(const fs::path& file, std::string_view bytes) {
    std::error_code code;
    if (fs::file_size(file, code) != bytes.size() || code) return false;
    const auto old = read_file(file);
    return old && *old == bytes;
}

Result<void> add_with_zst(Publication& publication,
                          const fs::path& file,
                          const std::string& text,
                          const IndexerOptions& options) {
    auto packed = file;
    packed += ".zst";
    std::error_code ignored;
    if (fs::exists(packed, ignored) && holds(file, text)) {
        GPKG_CHECK(publication.keep(packed));
        return publication.keep(file);
    }
    const auto level = options.zstd_level.value_or(text.size() < kLarge ? kLevel : kLevelOfLarge);
    GPKG_CHECK(publication.add(packed, zstd_compress(text, level)));
    return publication.add(file, text);
}

std::size_t threads_of(const IndexerOptions& options) {
    return static_cast<std::size_t>(std::max(1, options.jobs));
}

Result<void> do_all(const std::vector<std::function<Result<void>()>>& tasks,
                    const IndexerOptions& options) {
    std::vector<Result<void>> results(tasks.size());
    for_each_index(
        tasks.size(), threads_of(options), [&](std::size_t i) { results[i] = tasks[i](); });
    for (auto& result : results) GPKG_CHECK(std::move(result));
    return {};
}

}  // namespace gpkg
