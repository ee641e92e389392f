#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/process_identity.hpp"
#include "libcore/image/image_copy.hpp"
#include "libcore/image/image_mount.hpp"
#include "libcore/image/image_users_internal.hpp"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::string_view kByHand = "by-hand";

/// "shell-4711-982734": a number is given again, but not with the same time.
std::string name_of(pid_t shell) {
    if (shell == 0) return std::string(kByHand);
    return fmt::format("shell-{}-{}", shell, process_start(shell));
}

pid_t number_in(std::string_view text) {
    pid_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

struct Process {
    pid_t number = 0;
    pid_t parent = 0;
    bool is_fork = false;  ///< of its parent, without another program
    std::string program;   ///< the file name of it; empty where it may not be known
};

Process look_at(pid_t number) {
    Process process{number, 0, false, {}};
    const auto words = process_stat(number);
    constexpr std::size_t kParent = 1;
    constexpr std::size_t kFlags = 6;
    constexpr unsigned long kForkedWithoutExec = 0x40;  // PF_FORKNOEXEC
    if (words.size() <= kFlags) return process;
    process.parent = number_in(words[kParent]);
    process.is_fork = (std::strtoul(words[kFlags].c_str(), nullptr, 10) & kForkedWithoutExec) != 0;
    std::error_code code;
    process.program =
        fs::read_symlink(fmt::format("/proc/{}/exe", number), code).filename().native();
    return process;
}

std::string text_of(pid_t number) {
    const auto name = read_file(fmt::format("/proc/{}/comm", number));
    return fmt::format("process {} ({})", number, name ? trim(*name) : "?");
}

/// This process and those above it, up to `shell`; to the first one of all where that is none of
/// them. What they were started in tells nothing of what they use now.
std::set<pid_t> between(pid_t shell) {
    std::set<pid_t> numbers;
    for (pid_t number = ::getpid(); number > 1; number = look_at(number).parent) {
        if (!numbers.insert(number).second || number == shell) break;
    }
    return numbers;
}

bool is_module_system(const Process& process) {
    return process.program.starts_with("lua") || process.program.starts_with("tclsh") ||
           process.program.starts_with("modulecmd");
}

/// A module system, or what it runs: it is in its shell's environment, and gone with its answer.
bool is_of_module_system(pid_t number) {
    for (auto process = look_at(number); process.number > 1; process = look_at(process.parent)) {
        if (is_module_system(process)) return true;
        if (process.parent <= 1) break;
    }
    return false;
}

std::optional<uid_t> user_of(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
    return status.st_uid;
}

/// Of what a process sees mounted there; empty where nothing is.
std::string mounted_for(const std::string& process, const fs::path& place) {
    const auto mounts = read_file(fmt::format("/proc/{}/mountinfo", process));
    const auto system = mounts ? file_system_in(*mounts, place) : std::nullopt;
    return system && system->mount_point == place ? system->number : "";
}

/// Whether a process was started inside the environment that is at `place`.
bool was_started_in(pid_t number, const fs::path& place) {
    const auto variables = read_file(fmt::format("/proc/{}/environ", number));
    if (!variables) return false;
    const auto wanted = "CONDA_PREFIX=" + place.native();
    for (const auto variable : split(*variables, '\0')) {
        if (variable == wanted) return true;
    }
    return false;
}

}  // namespace

pid_t shell_of_module_system() {
    auto process = look_at(::getppid());
    while (process.parent > 1 && !is_module_system(process)) process = look_at(process.parent);
    if (!is_module_system(process)) return 0;
    // Shells run it in a copy of themselves that is gone at once.
    process = look_at(process.parent);
    while (process.is_fork && process.parent > 1) process = look_at(process.parent);
    return process.number;
}

Result<ImageUsers> ImageUsers::at(const fs::path& mount_point) {
    // Not TMPDIR, which a job may have for itself alone.
    fs::path base = "/tmp";
    if (is_on_shared_file_system(base)) base = "/dev/shm";
    GPKG_TRY(const auto own, own_folder_in(base));
    const auto key = hex_digest(DigestKind::Sha256, mount_point.native()).substr(0, 16);
    return ImageUsers(mount_point, own / "mounts" / key);
}

Result<void> ImageUsers::add(pid_t shell) const {
    return write_file_atomically(folder_ / name_of(shell), "");
}

void ImageUsers::remove(pid_t shell) const {
    std::error_code ignored;
    fs::remove(folder_ / name_of(shell), ignored);
}

std::vector<fs::path> ImageUsers::folders_of_others() const {
    std::vector<fs::path> folders;
    if (::geteuid() != 0) return folders;
    const auto own = folder_.parent_path().parent_path();
    std::error_code code;
    for (fs::directory_iterator entry(own.parent_path(), code), end; !code && entry != end;
         entry.increment(code)) {
        if (entry->path() != own && entry->path().filename().native().starts_with("gpkg-"))
            folders.push_back(entry->path() / folder_.lexically_relative(own));
    }
    return folders;
}

std::vector<std::string> ImageUsers::living(pid_t shell) const {
    std::vector<std::string> users;
    std::set<pid_t> told{shell};
    const auto tell = [&](pid_t number) {
        if (told.insert(number).second) users.push_back(text_of(number));
    };
    std::error_code code;
    for (fs::directory_iterator entry(folder_, code), end; !code && entry != end;
         entry.increment(code)) {
        const auto name = entry->path().filename().native();
        if (name == kByHand) users.emplace_back("an earlier gpkg image mount");
        if (!name.starts_with("shell-")) continue;
        const auto number = number_in(std::string_view(name).substr(6));
        std::error_code ignored;
        if (name_of(number) != name)
            fs::remove(entry->path(), ignored);
        else
            tell(number);
    }
    for (const auto& folder : folders_of_others()) {
        for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
             entry.increment(code)) {
            const auto name = entry->path().filename().native();
            if (!name.starts_with("shell-")) continue;
            const auto number = number_in(std::string_view(name).substr(6));
            // Nobody can say so of processes of others, which may never end.
            const auto user = user_of(fmt::format("/proc/{}", number));
            if (name_of(number) == name && user == user_of(folder)) tell(number);
        }
    }
    told.merge(between(shell));
    const auto here = mounted_for("self", mount_point_);
    for (fs::directory_iterator entry("/proc", code), end; !code && entry != end;
         entry.increment(code)) {
        const auto number = number_in(entry->path().filename().native());
        const bool is_asked =
            number > 0 && (::geteuid() == 0 || user_of(entry->path()) == ::geteuid());
        // One that ends tells no more what program it is: asked again, it was started in nothing.
        if (is_asked && was_started_in(number, mount_point_) && !is_of_module_system(number) &&
            mounted_for(std::to_string(number), mount_point_) == here &&
            was_started_in(number, mount_point_))
            tell(number);
    }
    return users;
}

}  // namespace gpkg
