#include "virtual-packages/confine.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace gpkg::virtual_packages {
namespace {

[[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
    ::_exit(126);
}

// The kernel's numbers are ours to write down: the headers that gpkg is built with may be older
// than they are. System calls from 424 on have one number everywhere.
constexpr long kCloseRange = 436;
constexpr long kLandlockCreateRuleset = 444;
constexpr long kLandlockAddRule = 445;
constexpr long kLandlockRestrictSelf = 446;

// Landlock: a process names kinds of access that it wants refused, and the places where it does
// not. docs.kernel.org/userspace-api/landlock.html
constexpr unsigned kAskVersion = 1;
constexpr int kRulePathBeneath = 1;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kRemoveAndMake = 0b1'1111'1111U << 4U;  // REMOVE_DIR to MAKE_SYM
constexpr std::uint64_t kMoveElsewhere = 1U << 13U;             // REFER, since version 2
constexpr std::uint64_t kTruncate = 1U << 14U;                  // since 3
constexpr std::uint64_t kDeviceIoctl = 1U << 15U;               // since 5
constexpr std::uint64_t kTcp = 0b11;                            // BIND, CONNECT, since 4
constexpr std::uint64_t kBeyond = 0b11;  // abstract Unix sockets, signals, since 6

struct Ruleset {
    std::uint64_t files = 0;
    std::uint64_t network = 0;
    std::uint64_t scoped = 0;
};

struct [[gnu::packed]] PathBeneath {
    std::uint64_t allowed = 0;
    std::int32_t parent = -1;
};

/// As much as this version of Landlock can refuse; fields it does not know must be 0.
Ruleset ruleset_for(long version) {
    Ruleset rules;
    rules.files = kWriteFile | kRemoveAndMake;
    if (version >= 2) rules.files |= kMoveElsewhere;
    if (version >= 3) rules.files |= kTruncate;
    if (version >= 4) rules.network = kTcp;
    if (version >= 5) rules.files |= kDeviceIoctl;
    if (version >= 6) rules.scoped = kBeyond;
    return rules;
}

/// Only what is a character device: a disk or a file is not to be written to, whoever names it.
void allow_device(int ruleset, const char* path, std::uint64_t handled) {
    PathBeneath rule;
    rule.allowed = handled & (kWriteFile | kDeviceIoctl);
    rule.parent = ::open(path, O_PATH | O_CLOEXEC);
    struct stat status {};
    if (rule.parent < 0 || ::fstat(rule.parent, &status) != 0 || !S_ISCHR(status.st_mode)) return;
    ::syscall(kLandlockAddRule, ruleset, kRulePathBeneath, &rule, 0);
    ::close(rule.parent);
}

/// False where the kernel has no Landlock, or it is switched off.
bool refuse_writing(std::span<char* const> devices) {
    const long version = ::syscall(kLandlockCreateRuleset, nullptr, 0, kAskVersion);
    if (version < 1) return false;
    const auto rules = ruleset_for(version);
    const auto ruleset =
        static_cast<int>(::syscall(kLandlockCreateRuleset, &rules, sizeof(rules), 0));
    if (ruleset < 0) return false;
    for (const auto* device : {"/dev/null", "/dev/zero", "/dev/full"})
        allow_device(ruleset, device, rules.files);
    for (const auto* device : devices) allow_device(ruleset, device, rules.files);
    return ::syscall(kLandlockRestrictSelf, ruleset, 0) == 0;
}

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__i386__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_I386;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_PPC64LE;
#elif defined(__s390x__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_S390X;
#elif defined(__riscv) && __riscv_xlen == 64 && defined(AUDIT_ARCH_RISCV64)
constexpr std::uint32_t kMachine = AUDIT_ARCH_RISCV64;
#else
constexpr std::uint32_t kMachine = 0;  // no filter
#endif

/// What a program that looks has no use for. io_uring opens sockets beside the filter, and
/// pidfd_getfd takes those of another process. To leave the process group is to outlive its end.
/// Landlock knows nothing of owners, modes, times and attributes; truncating is here for the
/// versions that do not know it. Architectures lack some of the older ones.
constexpr long kRefused[] = {
    SYS_socket,
#ifdef SYS_socketcall
    SYS_socketcall,
#endif
    425,  // io_uring_setup
    438,  // pidfd_getfd
    SYS_ptrace,
    SYS_process_vm_writev,
    SYS_setsid,
    SYS_setpgid,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fallocate,
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
#endif
    SYS_fchmod,
    SYS_fchmodat,
    452,  // fchmodat2
    SYS_fchown,
    SYS_fchownat,
#ifdef SYS_utime
    SYS_utime,
#endif
#ifdef SYS_utimes
    SYS_utimes,
    SYS_futimesat,
#endif
#ifdef SYS_utimensat
    SYS_utimensat,
#endif
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    463,  // setxattrat
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    466,  // removexattrat
};

constexpr auto kReturn = static_cast<std::uint16_t>(BPF_RET | BPF_K);
constexpr auto kLoad = static_cast<std::uint16_t>(BPF_LD | BPF_W | BPF_ABS);
constexpr auto kIfEqual = static_cast<std::uint16_t>(BPF_JMP | BPF_JEQ | BPF_K);
[[maybe_unused]] constexpr auto kIfAtLeast = static_cast<std::uint16_t>(BPF_JMP | BPF_JGE | BPF_K);
constexpr std::uint32_t kEnd = 0x80000000U;  // SECCOMP_RET_KILL_PROCESS, since Linux 4.14
constexpr std::uint32_t kSayNo = SECCOMP_RET_ERRNO | EPERM;

/// A filter reads the number of each system call. `skipped` instructions behind a condition are
/// skipped where it does not hold.
class Filter {
public:
    Filter() {
        // Another architecture's calls (32-bit ones, say) have other numbers.
        load(offsetof(seccomp_data, arch));
        add({kIfEqual, 1, 0, kMachine});
        add({kReturn, 0, 0, kEnd});
        load(offsetof(seccomp_data, nr));
#ifdef __x86_64__
        refuse_if(kIfAtLeast, 0x40000000U);  // the x32 calls, which have numbers of their own
#endif
        for (const long call : kRefused) refuse_if(kIfEqual, static_cast<std::uint32_t>(call));
        add({kReturn, 0, 0, SECCOMP_RET_ALLOW});
    }

    bool apply() {
        const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
        return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
    }

private:
    void add(sock_filter instruction) { code_.push_back(instruction); }
    void load(std::size_t offset) { add({kLoad, 0, 0, static_cast<std::uint32_t>(offset)}); }
    void refuse_if(std::uint16_t condition, std::uint32_t value) {
        add({condition, 0, 1, value});
        add({kReturn, 0, 0, kSayNo});
    }

    std::vector<sock_filter> code_;
};

bool refuse_calls() { return kMachine != 0 && Filter().apply(); }

/// Root writes and mounts where its files' modes do not let it; without capabilities it is a user.
void drop_capabilities() {
    for (unsigned long one = 0; ::prctl(PR_CAPBSET_READ, one, 0, 0, 0) >= 0; ++one)
        ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
}

void set_limits() {
    // Whoever asked may be gone before the program answers.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit nothing{0, 0};
    ::setrlimit(RLIMIT_CORE, &nothing);
    ::setrlimit(RLIMIT_FSIZE, &nothing);
    std::signal(SIGXFSZ, SIG_IGN);  // a write that is refused is an error, not the end
    ::syscall(kCloseRange, 3U, UINT_MAX, 0);
    if (::chdir("/") != 0) give_up("/");
}

}  // namespace

void confine_main(std::span<char* const> words) {
    std::size_t mark = 0;
    while (mark < words.size() && std::string_view(words[mark]) != "--") ++mark;
    if (mark + 1 >= words.size()) {
        errno = EINVAL;
        give_up("no program to confine");
    }
    set_limits();
    drop_capabilities();
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("no_new_privs");
    std::string held = "confined";
    if (refuse_writing(words.first(mark))) held += " writing";
    if (refuse_calls()) held += " network";
    held += '\n';
    if (::write(STDOUT_FILENO, held.data(), held.size()) < 0) give_up("standard output");

    std::vector<char*> program(words.begin() + static_cast<std::ptrdiff_t>(mark) + 1, words.end());
    program.push_back(nullptr);
    ::execv(program.front(), program.data());
    const int code = errno;
    if (code == ENOENT && ::access(program.front(), F_OK) == 0) {
        std::fprintf(
            stderr,
            "%s: the interpreter in its first line was not found (does the line end in CR LF?)\n",
            program.front());
        ::_exit(126);
    }
    errno = code;
    give_up(program.front());
}

}  // namespace gpkg::virtual_packages
