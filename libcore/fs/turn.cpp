#include "libcore/fs/turn.hpp"

#include "libcore/fs/file_system.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace gpkg {

std::optional<Descriptor> wait_for_turn(const fs::path& folder,
                                        const std::function<bool()>& cancelled,
                                        std::chrono::milliseconds longest) {
    constexpr std::chrono::milliseconds kStep(10);
    Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || is_on_shared_file_system(opened)) return Descriptor();
    for (std::chrono::milliseconds waited(0);; waited += kStep) {
        if (::flock(opened.get(), LOCK_EX | LOCK_NB) == 0) return opened;
        if (errno != EWOULDBLOCK) return Descriptor();
        if (waited >= longest || (cancelled && cancelled())) return std::nullopt;
        std::this_thread::sleep_for(kStep);
    }
}

}  // namespace gpkg
