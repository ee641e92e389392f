#pragma once

// What stands in the cache folder of shards, and under which names.

#include "libcore/base/digest.hpp"
#include "libcore/fs/file.hpp"

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace gpkg::shard_cache {

inline constexpr std::string_view kShard = ".msgpack.zst";  ///< after the sha256
inline constexpr std::string_view kList = ".kept";          ///< after the key of a subdir
inline constexpr std::string_view kIndex = ".index";

inline fs::path folder(const fs::path& cache) { return cache / "shards"; }

inline fs::path shard_file(const fs::path& cache, std::string_view hex) {
    return folder(cache) / fmt::format("{}{}", hex, kShard);
}

/// Of a list the part that says what its index was made of; before it stand three lines.
inline std::string_view lasting_part(std::string_view list) {
    for (int line = 0; line < 3; ++line) {
        const auto end = list.find('\n');
        list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    }
    return list;
}

/// The index that belongs to that part.
inline std::string index_name(std::string_view key, std::string_view list) {
    return fmt::format("{}-{}{}", key, hex_digest(DigestKind::Sha256, list).substr(0, 16), kIndex);
}

}  // namespace gpkg::shard_cache
