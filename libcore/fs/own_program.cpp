#include "libcore/fs/own_program.hpp"

#include <algorithm>
#include <system_error>

namespace gpkg {
namespace {

constexpr const char* kExe = "/proc/self/exe";

Result<fs::path> running() {
    std::error_code code;
    auto path = fs::read_symlink(kExe, code);
    if (code) return pass(io_error(kExe, "read", code.value()));
    return path;
}

std::optional<fs::path> find_program_of_loader() {
    const auto exe = running();
    const auto words = exe ? read_file("/proc/self/cmdline") : pass(exe.error());
    return words ? program_of_loader(*exe, *words) : std::nullopt;
}

/// Cached: it does not change during the process.
const std::optional<fs::path>& own_program_of_loader() {
    static const auto found = find_program_of_loader();
    return found;
}

}  // namespace

std::optional<fs::path> program_of_loader(const fs::path& exe, std::string_view words) {
    if (!exe.filename().native().starts_with("ld-linux")) return std::nullopt;
    bool is_next = false;
    while (!words.empty()) {
        const auto word = words.substr(0, words.find('\0'));
        if (is_next) return fs::path(word);
        is_next = word == "--argv0";
        words.remove_prefix(std::min(words.size(), word.size() + 1));
    }
    return std::nullopt;
}

Result<fs::path> own_program() {
    if (const auto& program = own_program_of_loader()) return *program;
    return running();
}

bool has_own_c_library() { return own_program_of_loader().has_value(); }

}  // namespace gpkg
