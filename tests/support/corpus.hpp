#pragma once

// The large corpus of real versions, specs and records, where GPKG_TEST_CORPUS names it.

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>
#include <zstd.h>

namespace gpkg::tests {

inline std::optional<std::filesystem::path> corpus() {
    const char* path = std::getenv("GPKG_TEST_CORPUS");
    if (path == nullptr || *path == '\0') return std::nullopt;
    return path;
}

/// The lines of a zstd file.
inline std::vector<std::string> zst_lines(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string packed{std::istreambuf_iterator<char>(file), {}};
    std::string text;
    ZSTD_DStream* stream = ZSTD_createDStream();
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    std::vector<char> buffer(ZSTD_DStreamOutSize());
    while (in.pos < in.size) {
        ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
        if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)) != 0)
            throw std::runtime_error(path.string() + ": not a zstd file");
        text.append(buffer.data(), out.pos);
    }
    ZSTD_freeDStream(stream);
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

}  // namespace gpkg::tests
