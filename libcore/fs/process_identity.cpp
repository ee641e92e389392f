#include "libcore/fs/process_identity.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"

#include <cerrno>
#include <csignal>
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

std::vector<std::string> process_stat(pid_t process) {
    const auto text = read_file(fmt::format("/proc/{}/stat", process));
    if (!text) return {};
    // "4711 (any name) S 4710 ..."
    const auto name_end = text->rfind(')');
    if (name_end == std::string::npos || name_end + 2 > text->size()) return {};
    const auto words = split(std::string_view(*text).substr(name_end + 2), ' ');
    return {words.begin(), words.end()};
}

std::uint64_t process_start(pid_t process) {
    constexpr std::size_t kStart = 19;
    const auto words = process_stat(process);
    return words.size() > kStart ? whole_number<std::uint64_t>(words[kStart]).value_or(0) : 0;
}

bool is_gone(pid_t process) {
    if (::kill(process, 0) != 0 && errno == ESRCH) return true;
    const auto words = process_stat(process);
    return !words.empty() && (words[0] == "Z" || words[0] == "X");
}

std::string this_process() {
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    return fmt::format("process {} on {}", ::getpid(), host[0] != '\0' ? host : "this machine");
}

}  // namespace gpkg
