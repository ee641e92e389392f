// To be preloaded: lets what is below a folder of this machine look like a network file system.
//
//     NETWORK_DISK    the folder
//     NETWORK_TYPE    what it is to be: "nfs4" (where not set), "lustre", ...
//     NETWORK_LOCKS   what flock(2) and locks of fcntl(2) do below it: "none": they fail with
//     ENOLCK;
//                     "hang": they do not come back; else they end the process, with words about it
//     NETWORK_QUOTA   what quotactl(2) tells of the user on disks of this machine:
//                     "USED_BYTES BYTE_LIMIT USED_FILES FILE_LIMIT"

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/quota.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {

std::string variable(const char* name, const char* otherwise = "") {
    const char* value = std::getenv(name);
    return value != nullptr ? value : otherwise;
}

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_below(const std::string& path) {
    const auto disk = variable("NETWORK_DISK");
    return !disk.empty() && (path == disk || path.rfind(disk + "/", 0) == 0);
}

std::string path_of(int descriptor) {
    char path[PATH_MAX] = "";
    const auto link = "/proc/self/fd/" + std::to_string(descriptor);
    return ::readlink(link.c_str(), path, sizeof path - 1) > 0 ? path : "";
}

std::string real_path(const char* name) {
    char path[PATH_MAX] = "";
    return ::realpath(name, path) != nullptr ? path : "";
}

long magic() { return variable("NETWORK_TYPE", "nfs4") == "lustre" ? 0x0BD00BD0L : 0x6969L; }

/// 0 where the lock is of a file elsewhere; else what the call fails with.
int lock_error(int descriptor) {
    if (!is_below(path_of(descriptor))) return 0;
    const auto locks = variable("NETWORK_LOCKS");
    if (locks == "none") return ENOLCK;
    while (locks == "hang") ::pause();
    std::fprintf(stderr, "a lock was asked for: %s\n", path_of(descriptor).c_str());
    std::abort();
}

/// The list of mounts with the disk in it.
int mounts() {
    static auto* const open_file = real<int(const char*, int, ...)>("open");
    const int file = ::memfd_create("mounts", MFD_CLOEXEC);
    const int from = open_file("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    char piece[4096];
    for (ssize_t count = 0; (count = ::read(from, piece, sizeof piece)) > 0;)
        if (::write(file, piece, static_cast<std::size_t>(count)) != count) std::abort();
    ::close(from);
    const auto line = "999 1 0:99 / " + variable("NETWORK_DISK") + " rw - " +
                      variable("NETWORK_TYPE", "nfs4") + " server:/export rw\n";
    if (::write(file, line.data(), line.size()) < 0) std::abort();
    ::lseek(file, 0, SEEK_SET);
    return file;
}

}  // namespace

extern "C" int flock(int descriptor, int operation) {
    static auto* const next = real<int(int, int)>("flock");
    if (const int code = lock_error(descriptor); code != 0) {
        errno = code;
        return -1;
    }
    return next(descriptor, operation);
}

#define FCNTL(name)                                                                               \
    extern "C" int name(int descriptor, int command, ...) {                                       \
        static auto* const next = real<int(int, int, ...)>(#name);                                \
        va_list list;                                                                             \
        va_start(list, command);                                                                  \
        void* const argument = va_arg(list, void*);                                               \
        va_end(list);                                                                             \
        const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || \
                           command == F_OFD_SETLKW;                                               \
        if (const int code = locks ? lock_error(descriptor) : 0; code != 0) {                     \
            errno = code;                                                                         \
            return -1;                                                                            \
        }                                                                                         \
        return next(descriptor, command, argument);                                               \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

#define OPEN(name)                                                                               \
    extern "C" int name(const char* path, int flags, ...) {                                      \
        static auto* const next = real<int(const char*, int, ...)>(#name);                       \
        va_list list;                                                                            \
        va_start(list, flags);                                                                   \
        const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;       \
        va_end(list);                                                                            \
        if (!variable("NETWORK_DISK").empty() && std::strcmp(path, "/proc/self/mountinfo") == 0) \
            return mounts();                                                                     \
        return next(path, flags, mode);                                                          \
    }
OPEN(open)
OPEN(open64)

#define STATFS(name, type)                                                          \
    extern "C" int name(const char* path, type* system) {                           \
        static auto* const next = real<int(const char*, type*)>(#name);             \
        const int status = next(path, system);                                      \
        if (status == 0 && is_below(real_path(path))) system->f_type = magic();     \
        return status;                                                              \
    }                                                                               \
    extern "C" int f##name(int descriptor, type* system) {                          \
        static auto* const next = real<int(int, type*)>("f" #name);                 \
        const int status = next(descriptor, system);                                \
        if (status == 0 && is_below(path_of(descriptor))) system->f_type = magic(); \
        return status;                                                              \
    }
STATFS(statfs, struct statfs)
STATFS(statfs64, struct statfs64)

extern "C" int quotactl(int command, const char* device, int id, char* address) {
    static auto* const next = real<int(int, const char*, int, char*)>("quotactl");
    const auto told = variable("NETWORK_QUOTA");
    if (told.empty() || command != static_cast<int>(QCMD(Q_GETQUOTA, USRQUOTA)))
        return next(command, device, id, address);
    unsigned long long used = 0;
    unsigned long long limit = 0;
    unsigned long long files = 0;
    unsigned long long file_limit = 0;
    if (std::sscanf(told.c_str(), "%llu %llu %llu %llu", &used, &limit, &files, &file_limit) != 4)
        std::abort();
    auto* block = reinterpret_cast<struct dqblk*>(address);
    *block = {};
    block->dqb_curspace = used;
    block->dqb_bhardlimit = limit / 1024;
    block->dqb_curinodes = files;
    block->dqb_ihardlimit = file_limit;
    return 0;
}
