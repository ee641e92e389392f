#include "libcore/fs/temporary.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/fs/file_system.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::string_view kTemporaryMark = ".tmp-";
constexpr std::size_t kSuffixLength = 8;

/// Whether it ends with the mark and eight digits.
bool has_suffix(std::string_view name, std::string_view mark) {
    if (name.size() < mark.size() + kSuffixLength) return false;
    const auto suffix = name.substr(name.size() - kSuffixLength - mark.size());
    return suffix.starts_with(mark) && is_hex(suffix.substr(mark.size()), kSuffixLength);
}

/// Nobody locks what other machines see as well: there, whoever wrote a file is taken for dead when
/// nothing was written for a day.
bool is_dead(const Descriptor& file) {
    if (!is_on_shared_file_system(file)) return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    constexpr std::time_t kDay = 86400;
    struct stat status {};
    return ::fstat(file.get(), &status) == 0 && status.st_mtime + kDay < std::time(nullptr);
}

/// Those whose names begin so.
void remove_dead(const fs::path& folder, std::string_view start) {
    std::error_code code;
    fs::directory_iterator entries(folder, code);
    for (const fs::directory_iterator end; !code && entries != end; entries.increment(code)) {
        const auto& path = entries->path();
        const auto name = path.filename().native();
        std::error_code ignored;
        if (!name.starts_with(start) || !has_suffix(name, kTemporaryMark) ||
            !entries->is_regular_file(ignored) || entries->is_symlink(ignored))
            continue;
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (file && is_dead(file)) ::unlink(path.c_str());
    }
}

/// On a disk of this machine, and not in its memory, which a job may have little of.
bool is_own_disk(const fs::path& folder) {
    constexpr unsigned long kTmpfs = 0x01021994UL;
    constexpr unsigned long kRamfs = 0x858458f6UL;
    struct statfs system {};
    if (::statfs(folder.c_str(), &system) != 0 || ::access(folder.c_str(), W_OK | X_OK) != 0)
        return false;
    const auto kind = static_cast<unsigned long>(system.f_type);
    return kind != kTmpfs && kind != kRamfs && !is_on_shared_file_system(folder);
}

std::optional<fs::path> disk_named_by(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value != '/' || !is_own_disk(value)) return std::nullopt;
    return value;
}

}  // namespace

fs::path folder_for_temporary() {
    std::error_code code;
    auto folder = fs::temp_directory_path(code);
    if (code) folder = "/tmp";
    const bool is_said = std::getenv("TMPDIR") != nullptr;
    if (is_said && !is_on_shared_file_system(folder)) return folder;
    if (auto of_job = disk_named_by("SLURM_TMPDIR")) return *std::move(of_job);
    return is_said && is_own_disk("/tmp") ? fs::path("/tmp") : folder;
}

fs::path folder_for_work(const fs::path& folder) {
    if (!is_on_shared_file_system(folder)) return folder;
    auto temporary = folder_for_temporary();
    return is_own_disk(temporary) ? temporary : folder;
}

std::string random_suffix() {
    // Not std::random_device: it asks the processor, which takes 50 µs in some virtual machines.
    std::uint32_t number = 0;
    if (::getentropy(&number, sizeof number) != 0)  // a kernel of 2014 or older
        number =
            static_cast<std::uint32_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return fmt::format("{:08x}", number);
}

std::string_view name_of_unfinished(std::string_view name) {
    for (const std::string_view mark : {kTemporaryMark, std::string_view(".part-")}) {
        if (has_suffix(name, mark))
            return name.substr(0, name.size() - mark.size() - kSuffixLength);
    }
    return {};
}

std::string temporary_name(const fs::path& path) {
    return fmt::format("{}{}{}", path.native(), kTemporaryMark, random_suffix());
}

bool keep_from_removal(const Descriptor& file) {
    if (is_on_shared_file_system(file)) return true;
    // The kernel drops the lock with the process.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    struct stat status {};
    return ::fstat(file.get(), &status) != 0 || status.st_nlink > 0;
}

void remove_dead_temporaries(const fs::path& folder) { remove_dead(folder, ""); }

void remove_dead_temporaries_of(const fs::path& file) {
    remove_dead(file.parent_path(), file.filename().native() + std::string(kTemporaryMark));
}

}  // namespace gpkg
