#include "libcore/fs/input_file_internal.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace gpkg {
namespace {

// A writer that is started beside the reader opens the pipe at once.
constexpr std::chrono::seconds kPatience{2};

/// Whether it is a pipe with a name: those of a shell's <(...) have none, and have had a writer
/// from their beginning.
bool is_named_pipe(int file, const struct stat& status) {
    struct statfs system {};
    return S_ISFIFO(status.st_mode) && ::fstatfs(file, &system) == 0 &&
           system.f_type != PIPEFS_MAGIC;
}

/// Until there are bytes, or all writers are gone. Says whether anything has happened.
bool wait_for_bytes(int file, int milliseconds) {
    struct pollfd wanted {
        file, POLLIN, 0
    };
    return ::poll(&wanted, 1, milliseconds) > 0;
}

}  // namespace

Result<InputFile> InputFile::open(fs::path path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return pass(io_error(path, "open", errno));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return pass(io_error(path, "read", errno));
    InputFile input(std::move(path), std::move(file));
    input.size_ = static_cast<std::size_t>(status.st_size);
    input.has_no_writer_yet_ = is_named_pipe(input.file_.get(), status);
    return input;
}

Result<std::size_t> InputFile::read(char* into, std::size_t room) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        const auto count = ::read(file_.get(), into, room);
        if (count > 0) {
            has_no_writer_yet_ = false;
            return static_cast<std::size_t>(count);
        }
        if (count == 0 && !has_no_writer_yet_) return std::size_t{0};
        if (count == 0) {
            if (std::chrono::steady_clock::now() > until)
                return fail(ErrorKind::Io,
                            fmt::format("{}: a pipe without a writer", path_.native()),
                            "start the program that writes to it first");
            // Of a writer that is there read() tells, of one that came and went poll() does.
            constexpr int kStep = 20;
            has_no_writer_yet_ = !wait_for_bytes(file_.get(), kStep);
        } else if (errno == EAGAIN) {
            has_no_writer_yet_ = false;
            constexpr int kAsLongAsItTakes = -1;
            wait_for_bytes(file_.get(), kAsLongAsItTakes);
        } else if (errno != EINTR) {
            return pass(io_error(path_, "read", errno));
        }
    }
}

}  // namespace gpkg
