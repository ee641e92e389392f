// To be preloaded: counts what gpkg does to files, and ends the process, or lets the call fail, at
// one of them.
//
//     STRIKE_COUNT  a file that the number of calls so far is written to
//     STRIKE_AT     the call that is struck, from 1
//     STRIKE_HOW    "before": killed in its place; "after": killed once it is done; "EIO": it fails
//     so;
//                   "ENOSPC": it and all that come and need room fail so
//     STRIKE_READS  a folder: calls that read below it are counted and struck in place of changes
//
// Programs that gpkg starts are left alone.

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

enum class Needs { Room, Nothing, Reading };

struct Plan {
    long at = 0;
    std::string_view how;
    int count_file = -1;
    bool is_gpkg = false;
    std::string_view reads_below;

    Plan() {
        is_gpkg = std::string_view(program_invocation_short_name) == "gpkg";
        if (const char* text = std::getenv("STRIKE_AT")) at = std::atol(text);
        if (const char* text = std::getenv("STRIKE_HOW")) how = text;
        if (const char* text = std::getenv("STRIKE_READS")) reads_below = text;
        if (const char* text = std::getenv("STRIKE_COUNT"); text != nullptr && is_gpkg)
            count_file = static_cast<int>(::syscall(
                SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    }
};

const Plan& plan() {
    static const Plan once;
    return once;
}

std::atomic<long> calls = 0;

[[noreturn]] void die() {
    ::syscall(SYS_kill, ::getpid(), SIGKILL);
    for (;;) ::pause();
}

/// Around one call: `fails` tells that it is not to be made, with errno set.
class Strike {
public:
    explicit Strike(Needs needs) {
        if (!plan().is_gpkg) return;
        if (plan().reads_below.empty() == (needs == Needs::Reading)) return;
        number_ = ++calls;
        if (plan().count_file >= 0) {
            char text[32];
            const int size = std::snprintf(text, sizeof text, "%ld", number_);
            ::syscall(SYS_pwrite64, plan().count_file, text, size, 0);
        }
        if (plan().at == 0) return;
        const bool hit = number_ == plan().at;
        if (hit && plan().how == "before") die();
        if (hit && plan().how == "EIO") error_ = EIO;
        if (number_ >= plan().at && plan().how == "ENOSPC" && needs == Needs::Room) error_ = ENOSPC;
        if (error_ != 0) errno = error_;
    }
    ~Strike() {
        if (plan().at != 0 && number_ != 0 && number_ == plan().at && plan().how == "after") die();
    }
    Strike(const Strike&) = delete;
    Strike& operator=(const Strike&) = delete;
    bool fails() const { return error_ != 0; }

private:
    long number_ = 0;
    int error_ = 0;
};

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Whether a read of this path is meant. Nothing here may call what is wrapped.
bool is_meant(int folder, const char* path) {
    if (plan().reads_below.empty() || path == nullptr) return false;
    char room[4096] = "";
    if (*path != '/') {
        char link[64] = "/proc/self/cwd";
        if (folder != AT_FDCWD) std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        const auto size =
            ::syscall(SYS_readlinkat, AT_FDCWD, link, room, static_cast<long>(sizeof room - 1));
        if (size <= 0) return false;
    }
    const std::string whole = *path == '/' ? path : std::string(room) + "/" + path;
    return whole.starts_with(plan().reads_below);
}

bool is_file(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

// One wrapper: the name, its parameters, what it hands on, and whether it needs room.
#define STRIKE(type, name, parameters, arguments, needs)                \
    extern "C" type name parameters {                                   \
        static auto* const next = real<type parameters>(#name);         \
        const Strike strike(needs);                                     \
        return strike.fails() ? static_cast<type>(-1) : next arguments; \
    }
// The same for descriptors, which may be pipes and terminals.
#define STRIKE_FILE(type, name, parameters, arguments, descriptor, needs) \
    extern "C" type name parameters {                                     \
        static auto* const next = real<type parameters>(#name);           \
        if (!is_file(descriptor)) return next arguments;                  \
        const Strike strike(needs);                                       \
        return strike.fails() ? static_cast<type>(-1) : next arguments;   \
    }
// open and its kin change something where they make or empty a file.
#define STRIKE_OPEN(name, parameters, arguments)                            \
    extern "C" int name parameters {                                        \
        static auto* const next = real<int parameters>(#name);              \
        mode_t mode = 0;                                                    \
        if ((flags & (O_CREAT | O_TMPFILE)) != 0) {                         \
            va_list list;                                                   \
            va_start(list, flags);                                          \
            mode = va_arg(list, mode_t);                                    \
            va_end(list);                                                   \
        }                                                                   \
        const bool reads = (flags & (O_CREAT | O_TRUNC)) == 0;              \
        if (reads && !is_meant(STRIKE_FOLDER, path)) return next arguments; \
        const Strike strike(reads ? Needs::Reading : Needs::Room);          \
        return strike.fails() ? -1 : next arguments;                        \
    }

#define STRIKE_FOLDER AT_FDCWD
STRIKE_OPEN(open, (const char* path, int flags, ...), (path, flags, mode))
STRIKE_OPEN(open64, (const char* path, int flags, ...), (path, flags, mode))
#undef STRIKE_FOLDER
#define STRIKE_FOLDER folder
STRIKE_OPEN(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
STRIKE_OPEN(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

STRIKE(int, mkdir, (const char* path, mode_t mode), (path, mode), Needs::Room)
STRIKE(int, mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode), Needs::Room)
STRIKE(int, link, (const char* from, const char* to), (from, to), Needs::Room)
STRIKE(int,
       linkat,
       (int a, const char* from, int b, const char* to, int flags),
       (a, from, b, to, flags),
       Needs::Room)
STRIKE(int, symlink, (const char* target, const char* path), (target, path), Needs::Room)
STRIKE(int,
       symlinkat,
       (const char* target, int folder, const char* path),
       (target, folder, path),
       Needs::Room)
STRIKE(int, rename, (const char* from, const char* to), (from, to), Needs::Nothing)
STRIKE(int,
       renameat,
       (int a, const char* from, int b, const char* to),
       (a, from, b, to),
       Needs::Nothing)
STRIKE(int,
       renameat2,
       (int a, const char* from, int b, const char* to, unsigned flags),
       (a, from, b, to, flags),
       Needs::Nothing)
STRIKE(int, unlink, (const char* path), (path), Needs::Nothing)
STRIKE(
    int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags), Needs::Nothing)
STRIKE(int, rmdir, (const char* path), (path), Needs::Nothing)
STRIKE(int, remove, (const char* path), (path), Needs::Nothing)
STRIKE(int, chmod, (const char* path, mode_t mode), (path, mode), Needs::Nothing)
STRIKE(int,
       fchmodat,
       (int folder, const char* path, mode_t mode, int flags),
       (folder, path, mode, flags),
       Needs::Nothing)
STRIKE(int,
       utimensat,
       (int folder, const char* path, const struct timespec times[2], int flags),
       (folder, path, times, flags),
       Needs::Nothing)
STRIKE_FILE(int, fchmod, (int file, mode_t mode), (file, mode), file, Needs::Nothing)
STRIKE_FILE(
    int, futimens, (int file, const struct timespec times[2]), (file, times), file, Needs::Nothing)
STRIKE_FILE(int, fsync, (int file), (file), file, Needs::Nothing)
STRIKE_FILE(int, fdatasync, (int file), (file), file, Needs::Nothing)
STRIKE_FILE(int, ftruncate, (int file, off_t size), (file, size), file, Needs::Room)
STRIKE_FILE(int, ftruncate64, (int file, off64_t size), (file, size), file, Needs::Room)
STRIKE_FILE(ssize_t,
            write,
            (int file, const void* bytes, size_t size),
            (file, bytes, size),
            file,
            Needs::Room)
STRIKE_FILE(ssize_t,
            writev,
            (int file, const struct iovec* parts, int count),
            (file, parts, count),
            file,
            Needs::Room)
STRIKE_FILE(ssize_t,
            pwrite,
            (int file, const void* bytes, size_t size, off_t at),
            (file, bytes, size, at),
            file,
            Needs::Room)
STRIKE_FILE(ssize_t,
            pwrite64,
            (int file, const void* bytes, size_t size, off64_t at),
            (file, bytes, size, at),
            file,
            Needs::Room)
STRIKE_FILE(ssize_t,
            copy_file_range,
            (int from, off64_t* a, int to, off64_t* b, size_t size, unsigned flags),
            (from, a, to, b, size, flags),
            to,
            Needs::Room)

// What only reads, below the folder that is meant.
#define STRIKE_READ(type, name, parameters, arguments, folder, path, failed) \
    extern "C" type name parameters {                                        \
        static auto* const next = real<type parameters>(#name);              \
        if (!is_meant(folder, path)) return next arguments;                  \
        const Strike strike(Needs::Reading);                                 \
        return strike.fails() ? failed : next arguments;                     \
    }

STRIKE_READ(int, stat, (const char* path, struct stat* to), (path, to), AT_FDCWD, path, -1)
STRIKE_READ(int, lstat, (const char* path, struct stat* to), (path, to), AT_FDCWD, path, -1)
STRIKE_READ(int, stat64, (const char* path, struct stat64* to), (path, to), AT_FDCWD, path, -1)
STRIKE_READ(int, lstat64, (const char* path, struct stat64* to), (path, to), AT_FDCWD, path, -1)
STRIKE_READ(int,
            fstatat,
            (int folder, const char* path, struct stat* to, int flags),
            (folder, path, to, flags),
            folder,
            path,
            -1)
STRIKE_READ(int,
            fstatat64,
            (int folder, const char* path, struct stat64* to, int flags),
            (folder, path, to, flags),
            folder,
            path,
            -1)
STRIKE_READ(ssize_t,
            readlink,
            (const char* path, char* to, size_t room),
            (path, to, room),
            AT_FDCWD,
            path,
            -1)
STRIKE_READ(DIR*, opendir, (const char* path), (path), AT_FDCWD, path, nullptr)
STRIKE_READ(struct dirent*, readdir, (DIR * from), (from), ::dirfd(from), ".", nullptr)
STRIKE_READ(struct dirent64*, readdir64, (DIR * from), (from), ::dirfd(from), ".", nullptr)
STRIKE_READ(ssize_t, read, (int file, void* to, size_t room), (file, to, room), file, "", -1)
STRIKE_READ(int, flock, (int file, int how), (file, how), file, "", -1)
