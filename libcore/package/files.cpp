#include "libcore/base/text.hpp"
#include "libcore/package/files_internal.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <vector>

namespace gpkg {

std::string clean_relative(std::string_view path) {
    std::string result;
    result.reserve(path.size());
    for (const auto part : split(path, '/')) {
        if (part.empty() || part == ".") continue;
        if (!result.empty()) result += '/';
        result += part;
    }
    return result;
}

Descriptor open_below(int folder, const std::string& relative, int flags) {
    Descriptor here;
    int parent = folder;
    std::size_t start = 0;
    for (;;) {
        const auto slash = relative.find('/', start);
        if (slash == std::string::npos) break;
        const auto part = relative.substr(start, slash - start);
        Descriptor next(
            ::openat(parent, part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next) return next;
        here = std::move(next);
        parent = here.get();
        start = slash + 1;
    }
    return Descriptor(
        ::openat(parent, relative.c_str() + start, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

Result<std::string> read_descriptor(int fd, std::string_view path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return pass(io_error(path, "read", errno));
    if (!S_ISREG(status.st_mode))
        return fail(ErrorKind::Integrity, fmt::format("{}: not a file", path));
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t used = 0;
    while (used < bytes.size()) {
        const auto count = ::read(fd, bytes.data() + used, bytes.size() - used);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(path, "read", errno));
        if (count == 0) break;
        used += static_cast<std::size_t>(count);
    }
    bytes.resize(used);
    return bytes;
}

std::optional<std::string> read_link(int folder, const std::string& relative) {
    std::string target(4096, '\0');
    const auto length = ::readlinkat(folder, relative.c_str(), target.data(), target.size());
    if (length < 0 || static_cast<std::size_t>(length) == target.size()) return std::nullopt;
    target.resize(static_cast<std::size_t>(length));
    return target;
}

std::optional<std::string> resolve_inside(int folder, std::string_view relative) {
    constexpr int kMostLinks = 40;  // as the kernel
    int links = 0;
    std::vector<std::string> ahead;  // last one first
    const auto push = [&](std::string_view path) {
        const auto parts = split(path, '/');
        ahead.insert(ahead.end(), parts.rbegin(), parts.rend());
    };
    push(relative);
    std::string here;
    while (!ahead.empty()) {
        const auto part = std::move(ahead.back());
        ahead.pop_back();
        if (part.empty() || part == ".") continue;
        const auto slash = here.rfind('/');
        if (part == "..") {
            if (here.empty()) return std::nullopt;
            here.resize(slash == std::string::npos ? 0 : slash);
            continue;
        }
        const auto size = here.size();
        if (!here.empty()) here += '/';
        here += part;
        struct stat status {};
        if (::fstatat(folder, here.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
        if (!S_ISLNK(status.st_mode)) continue;
        const auto target = read_link(folder, here);
        if (!target || target->empty() || target->front() == '/' || ++links > kMostLinks)
            return std::nullopt;
        here.resize(size);
        push(*target);
    }
    if (here.empty()) return std::nullopt;
    return here;
}

}  // namespace gpkg
