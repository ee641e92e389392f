#pragma once

// Bytes put aside until they are needed again: in memory while they are few, else in a file without
// a name, which vanishes with its owner.

#include "libcore/fs/descriptor.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpkg {

class Spool {
public:
    /// The file, should one be needed, is made in `folder`.
    explicit Spool(fs::path folder) : folder_(std::move(folder)) {}

    /// Where the bytes will be found.
    Result<std::uint64_t> append(std::string_view bytes);
    /// `size` bytes from `offset` on, in memory of `into` or of the spool.
    Result<std::string_view> read(std::uint64_t offset, std::size_t size, std::string& into) const;

private:
    Result<void> spill();

    fs::path folder_;
    Descriptor file_;
    std::uint64_t spilled_ = 0;
    std::string recent_;  ///< what comes after that
};

}  // namespace gpkg
