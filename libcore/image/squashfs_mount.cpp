#include "libcore/base/text.hpp"
#include "libcore/image/squashfs_mount_internal.hpp"
#include "libcore/process/process.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace gpkg {

tl::unexpected<Error> cannot(std::string_view what, int code) {
    return fail(ErrorKind::Unsupported, fmt::format("{}: {}", what, std::strerror(code)));
}

Result<void> mount_by_kernel(const fs::path& image, const fs::path& place) {
    ProcessCommand command;
    command.arguments = {
        "mount", "-t", "squashfs", "-o", "loop,ro,nodev,nosuid", image.native(), place.native()};
    GPKG_TRY(const auto done, run_and_capture(command));
    if (done.exit_code == 0) return {};
    // The reason comes first; that dmesg may know more follows.
    const auto first = trim(split(done.output, '\n').front());
    return fail(ErrorKind::Unsupported,
                fmt::format("{}{}", first.starts_with("mount: ") ? "" : "mount: ", first));
}

Result<fs::path> usable_squashfuse() {
    auto program = find_program("squashfuse_ll");
    if (program.empty()) program = find_program("squashfuse");
    if (program.empty()) return fail(ErrorKind::Unsupported, "squashfuse is not on PATH");
    if (::access("/dev/fuse", R_OK | W_OK) != 0)
        return fail(ErrorKind::Unsupported,
                    fmt::format("no access to /dev/fuse: {}", std::strerror(errno)));
    return program;
}

}  // namespace gpkg
