// For clang's engine: NAME_libfuzzer FOLDER; the folder begins with the corpus. What it has found
// becomes the next corpus:
//   NAME_libfuzzer -merge=1 SMALL FOLDER
//   for file in SMALL/*; do xxd -p -c 0 "$file"; done | LC_ALL=C sort > corpus/NAME.hex

#include "tests/fuzz/engine.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

// NOLINTBEGIN(readability-identifier-naming): the engine gives the names

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
    for (int i = 1; i < *count; ++i) {
        const std::filesystem::path folder = (*words)[i];
        if (!std::filesystem::is_directory(folder)) continue;
        // A merge begins with an empty folder that is to stay small.
        if (std::string_view((*words)[1]).starts_with("-merge")) break;
        std::size_t number = 0;
        for (const auto& input : fuzz_corpus())
            std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << input;
        break;
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_one({reinterpret_cast<const char*>(data), size});
    return 0;
}

// NOLINTEND(readability-identifier-naming)
