// The bare cost of knowing what is in some repodata files: reading, unpacking and parsing each as a
// whole, with nothing kept. What solve_bench.py measures gpkg against.
//   parse_floor FILE.json[.zst]...

#include <cstdio>
#include <fstream>
#include <iterator>
#include <simdjson.h>
#include <stdexcept>
#include <string>
#include <zstd.h>

namespace {

std::string contents(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(std::string(path) + ": cannot be read");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string unpacked(const std::string& packed) {
    ZSTD_DStream* stream = ZSTD_createDStream();
    std::string text;
    const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR)
        text.reserve(size + simdjson::SIMDJSON_PADDING);
    std::string buffer(ZSTD_DStreamOutSize(), '\0');
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    std::size_t left = 0;
    while (in.pos < in.size && ZSTD_isError(left) == 0) {
        ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
        left = ZSTD_decompressStream(stream, &out, &in);
        text.append(buffer, 0, out.pos);
    }
    ZSTD_freeDStream(stream);
    if (left != 0) throw std::runtime_error("not a whole zstd file");
    return text;
}

}  // namespace

int main(int count, char** paths) try {
    for (int i = 1; i < count; ++i) {
        const std::string path = paths[i];
        auto text = contents(paths[i]);
        if (path.ends_with(".zst")) text = unpacked(text);
        simdjson::dom::parser parser;
        const auto error = parser.parse(text).error();
        if (error != simdjson::SUCCESS) throw std::runtime_error(simdjson::error_message(error));
    }
} catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
