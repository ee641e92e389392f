// Runs a program as on a kernel that lacks something: old_kernel landlock|seccomp|both PROGRAM...

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

using Code = std::vector<sock_filter>;

void add(Code& code, unsigned operation, std::uint32_t value, std::uint8_t skipped = 0) {
    code.push_back({static_cast<std::uint16_t>(operation), 0, skipped, value});
}

void load(Code& code, std::size_t offset) {
    add(code, BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return 2;
    const std::string_view lacks = arguments[1];
    constexpr std::uint32_t kLandlockCreateRuleset = 444;
    constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
    Code code;
    load(code, offsetof(seccomp_data, nr));
    if (lacks != "seccomp") {
        add(code, BPF_JMP | BPF_JEQ | BPF_K, kLandlockCreateRuleset, 1);
        add(code, BPF_RET | BPF_K, kUnknown);
    }
    if (lacks != "landlock") {
        add(code, BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 3);
        load(code, offsetof(seccomp_data, args));
        add(code, BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 1);
        add(code, BPF_RET | BPF_K, kUnknown);
    }
    add(code, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return 3;
    ::execv(arguments[2], arguments + 2);
    return 4;
}
