#include "libcore/fs/temporary.hpp"

#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <sys/random.h>

namespace gpkg {

fs::path folder_for_temporary() {
    std::error_code code;
    auto folder = fs::temp_directory_path(code);
    return code ? fs::path("/tmp") : folder;
}

std::string random_suffix() {
    // Not std::random_device: it asks the processor, which takes 50 µs in some virtual machines.
    std::uint32_t number = 0;
    if (::getentropy(&number, sizeof number) != 0)  // a kernel of 2014 or older
        number =
            static_cast<std::uint32_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return fmt::format("{:08x}", number);
}

}  // namespace gpkg
