#pragma once

// Getting a part of a file: of packages, whose interesting part is small and whose size is not.
// Over HTTP by a Range request; a server that knows none of those answers with the whole file, of
// which no more is taken than was allowed.

#include "libcore/net/get.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpkg {

struct PartRequest {
    std::string url;               ///< http or https
    std::uint64_t from = 0;        ///< the first byte wanted
    std::uint64_t count = 0;       ///< how many, at least one
    bool at_end = false;           ///< the last `count` in place of those `from` on
    std::uint64_t most_whole = 0;  ///< the whole file is taken in place of a part up to this size
};

struct FilePart {
    std::uint64_t from = 0;   ///< where it begins in the file
    std::string bytes;        ///< what was asked for, or all of the file
    std::uint64_t whole = 0;  ///< the size of the file
};

/// The results stand in the order of the requests. A file that is shorter than what is asked for
/// gives what there is. Unsupported where the server has only the whole and that is too large;
/// else the errors of get().
std::vector<Result<FilePart>> get_parts(Transport& transport,
                                        std::span<const PartRequest> requests,
                                        const TransferOptions& options = {});

}  // namespace gpkg
