#pragma once

#include <cstdlib>
#include <string>

namespace gpkg::tests {

/// How much is tried where more could be: GPKG_TEST_EFFORT=10 tries ten times as much as every run
/// does, 0.1 a tenth.
inline double test_effort() {
    const char* wanted = std::getenv("GPKG_TEST_EFFORT");
    return wanted == nullptr ? 1 : std::stod(wanted);
}

}  // namespace gpkg::tests
