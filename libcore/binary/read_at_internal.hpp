#pragma once

#include <cstdint>
#include <string>

namespace gpkg {

/// As much of `count` bytes at `offset` of an open file as there is and can be read.
std::string read_at(int file, std::uint64_t offset, std::uint64_t count);

}  // namespace gpkg
