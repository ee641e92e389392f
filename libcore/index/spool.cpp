#include "libcore/index/spool_internal.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::size_t kMostInMemory = std::size_t{8} << 20U;

}  // namespace

Result<std::uint64_t> Spool::append(std::string_view bytes) {
    if (recent_.size() + bytes.size() > kMostInMemory) GPKG_CHECK(spill());
    const auto offset = spilled_ + recent_.size();
    recent_ += bytes;
    return offset;
}

Result<void> Spool::spill() {
    if (!file_) {
        auto path = (folder_ / ".gpkg-index-XXXXXX").native();
        file_ = Descriptor(::mkostemp(path.data(), O_CLOEXEC));
        if (!file_) return pass(io_error(folder_, "create a file in it", errno));
        ::unlink(path.c_str());
    }
    if (!write_fully(file_.get(), recent_)) return pass(io_error(folder_, "write", errno));
    spilled_ += recent_.size();
    recent_.clear();
    return {};
}

Result<std::string_view> Spool::read(std::uint64_t offset,
                                     std::size_t size,
                                     std::string& into) const {
    if (offset >= spilled_)
        return std::string_view(recent_).substr(static_cast<std::size_t>(offset - spilled_), size);
    if (into.size() < size) into.resize(size);
    std::size_t done = 0;
    while (done < size && offset + done < spilled_) {
        const auto count = ::pread(
            file_.get(), into.data() + done, size - done, static_cast<off_t>(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return pass(io_error(folder_, "read back", count < 0 ? errno : EIO));
        done += static_cast<std::size_t>(count);
    }
    // A run of records may begin in the file and end in memory.
    if (done < size) recent_.copy(into.data() + done, size - done, 0);
    return std::string_view(into).substr(0, size);
}

}  // namespace gpkg
