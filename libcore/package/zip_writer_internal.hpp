#pragma once

// A zip with stored members, as CEP 35 wants it. Sizes and checksums stand in front of each member
// (no data descriptors), so that a reader may also stream the file; libarchive's writer cannot do
// that, and writes local times.

#include "libcore/base/error.hpp"
#include "libcore/package/files_internal.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

std::uint32_t crc32(std::uint32_t so_far, std::string_view bytes);

class ZipWriter {
public:
    /// Writes to `fd` from its beginning; `name` names it in errors. `timestamp`: Unix seconds.
    ZipWriter(int fd, std::string name, std::int64_t timestamp);

    /// `large`: the member may exceed 4 GiB (decides the form of its header).
    Result<void> begin(std::string_view member, bool large);
    Result<void> write(std::string_view bytes);
    Result<void> end();
    /// Writes the directory; nothing may follow.
    Result<void> finish();

private:
    struct Entry {
        std::string name;
        std::uint32_t crc = 0;
        std::uint64_t size = 0;
        std::uint64_t offset = 0;
        bool large = false;
    };

    Result<void> put(std::string_view bytes);
    std::string local_header(const Entry& entry) const;
    std::string directory_entry(const Entry& entry) const;

    int fd_;
    std::string name_;
    std::uint32_t dos_time_;
    std::uint64_t position_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace gpkg
