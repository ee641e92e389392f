// For clang's engine: NAME_libfuzzer FOLDER; the folder begins with the seeds.

#include "tests/fuzz/engine.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>

// NOLINTBEGIN(readability-identifier-naming): the engine gives the names

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
    for (int i = 1; i < *count; ++i) {
        const std::filesystem::path folder = (*words)[i];
        if (!std::filesystem::is_directory(folder)) continue;
        std::size_t number = 0;
        for (const auto& seed : fuzz_seeds())
            std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
        break;
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_one({reinterpret_cast<const char*>(data), size});
    return 0;
}

// NOLINTEND(readability-identifier-naming)
