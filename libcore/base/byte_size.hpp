#pragma once

// Numbers of bytes as people write them.

#include "libcore/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpkg {

/// "3GB", "1.5 GiB", "700M" or "123456": kB, MB, GB and TB are powers of 1000, with an "i" (KiB) of
/// 1024; in any case, the "B" may be left out. Usage errors, and for 0 too: as a limit it is a
/// slip.
Result<std::uint64_t> parse_byte_size(std::string_view text);

/// "1.2 GB", for a person.
std::string byte_size_text(std::uint64_t bytes);

}  // namespace gpkg
