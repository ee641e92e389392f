#pragma once

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace gpkg {

/// What a channel promises of the bytes of a file. Lowercase hex.
struct Checksums {
    std::string sha256;
    std::string md5;
    std::uint64_t size = 0;
};

/// Reads the file once. Errors: Io, Interrupted (where `cancelled` says so).
Result<Checksums> checksums_of(const fs::path& file, const std::function<bool()>& cancelled = {});

}  // namespace gpkg
