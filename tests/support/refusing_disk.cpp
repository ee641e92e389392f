// To be preloaded: a file system that cannot do some things.
//
//     REFUSE        "symlink=EOPNOTSUPP chmod=EPERM link=EPERM flock=EIO": calls and how they fail
//     REFUSE_BELOW  the folder in which they do

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace {

std::string folder_of(int folder) {
    char link[64] = "/proc/self/cwd";
    if (folder != AT_FDCWD) std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    std::array<char, 4096> room{};
    const auto size = ::readlink(link, room.data(), room.size());
    return size > 0 ? std::string(room.data(), static_cast<std::size_t>(size)) : std::string();
}

/// Sets errno where the call is refused for that path.
bool refuses(std::string_view call, int folder, const char* path) {
    const char* list = std::getenv("REFUSE");
    const char* below = std::getenv("REFUSE_BELOW");
    if (list == nullptr || below == nullptr) return false;
    const std::string words = std::string(" ") + list + " ";
    const std::string wanted = " " + std::string(call) + "=";
    const auto at = words.find(wanted);
    if (at == std::string::npos) return false;
    const std::string whole = path != nullptr && *path == '/' ? path : folder_of(folder);
    if (!whole.starts_with(below)) return false;
    const auto how = std::string_view(words).substr(at + wanted.size());
    constexpr std::array<std::pair<std::string_view, int>, 3> kCodes{
        {{"EPERM ", EPERM}, {"EIO ", EIO}, {"EOPNOTSUPP ", EOPNOTSUPP}}};
    for (const auto& [name, code] : kCodes) {
        if (how.starts_with(name)) errno = code;
    }
    return true;
}

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define REFUSE(name, call, parameters, arguments, folder, path)   \
    extern "C" int name parameters {                              \
        static auto* const next = real<int parameters>(#name);    \
        return refuses(call, folder, path) ? -1 : next arguments; \
    }

REFUSE(symlinkat,
       "symlink",
       (const char* target, int folder, const char* path),
       (target, folder, path),
       folder,
       path)
REFUSE(linkat,
       "link",
       (int a, const char* from, int folder, const char* path, int flags),
       (a, from, folder, path, flags),
       folder,
       path)
REFUSE(fchmod, "chmod", (int file, mode_t mode), (file, mode), file, nullptr)
REFUSE(chmod, "chmod", (const char* path, mode_t mode), (path, mode), AT_FDCWD, path)
REFUSE(flock, "flock", (int file, int how), (file, how), file, nullptr)
