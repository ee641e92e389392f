#pragma once

// Bytes that come piece by piece: of files too large to be held, or still on their way.

#include "libcore/fs/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace gpkg {

/// Fills up to `room` bytes at `into` and says how many; 0: the end, also when asked again.
using ByteSource = std::function<Result<std::size_t>(char* into, std::size_t room)>;

ByteSource text_source(std::string text);
Result<ByteSource> file_source(const fs::path& path);

/// How much a zstd stream may unpack to before it is called a bomb: `always`, and beyond that
/// `per_byte` times what was read of it.
struct UnpackLimit {
    std::uint64_t always = 0;
    std::uint64_t per_byte = 0;
};

/// What a zstd stream unpacks to. Windows up to 128 MiB are accepted; a stream that is cut off,
/// damaged or beyond the limit is an Integrity error. `what` names it there.
ByteSource zstd_source(ByteSource packed, std::string what, UnpackLimit limit);

/// The same bytes, whether they came zstd-compressed (told by the first four) or plain.
ByteSource unpacked_source(ByteSource maybe_packed, std::string what, UnpackLimit limit);

}  // namespace gpkg
