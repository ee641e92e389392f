#include "libcore/fs/process_identity.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"

#include <charconv>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {

std::string process_world() {
    const auto boot = read_file("/proc/sys/kernel/random/boot_id");
    std::error_code code;
    const auto processes = fs::read_symlink("/proc/self/ns/pid", code);
    if (!boot || code) return {};
    return hex_digest(DigestKind::Sha256, *boot + processes.native()).substr(0, 16);
}

std::uint64_t process_start(pid_t process) {
    const auto text = read_file(fmt::format("/proc/{}/stat", process));
    if (!text) return 0;
    // "4711 (any name) S 4710 ...": the 20th word behind the name.
    const auto name_end = text->rfind(')');
    if (name_end == std::string::npos) return 0;
    const auto words = split(std::string_view(*text).substr(name_end + 1), ' ');
    constexpr std::size_t kStart = 20;
    std::uint64_t start = 0;
    if (words.size() > kStart)
        std::from_chars(words[kStart].data(), words[kStart].data() + words[kStart].size(), start);
    return start;
}

std::string this_process() {
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    return fmt::format("process {} on {}", ::getpid(), host[0] != '\0' ? host : "this machine");
}

}  // namespace gpkg
