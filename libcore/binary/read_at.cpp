#include "libcore/binary/read_at_internal.hpp"

#include <cerrno>
#include <unistd.h>

namespace gpkg {

std::string read_at(int file, std::uint64_t offset, std::uint64_t count) {
    std::string out(count, '\0');
    std::size_t done = 0;
    while (done < count) {
        const auto got =
            ::pread(file, out.data() + done, count - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    out.resize(done);
    return out;
}

}  // namespace gpkg
