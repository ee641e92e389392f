#include "libcore/base/digest.hpp"
#include "tests/fuzz/engine.hpp"

#include <fstream>

std::vector<std::string> fuzz_corpus() {
    auto inputs = fuzz_seeds();
    std::ifstream file(GPKG_FUZZ_CORPUS);
    for (std::string line; std::getline(file, line);) {
        std::string bytes(line.size() / 2, '\0');
        if (!gpkg::from_hex(line, bytes))
            fuzz_stop(GPKG_FUZZ_CORPUS ": a line is not hexadecimal", line);
        inputs.push_back(std::move(bytes));
    }
    return inputs;
}
