#include "libcore/fs/temporary.hpp"

#include "libcore/base/digest.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::string_view kMark = ".tmp-";
constexpr std::size_t kSuffixLength = 8;

bool is_temporary_name(std::string_view name) {
    if (name.size() < kMark.size() + kSuffixLength) return false;
    return name.substr(name.size() - kSuffixLength - kMark.size(), kMark.size()) == kMark &&
           is_hex(name.substr(name.size() - kSuffixLength), kSuffixLength);
}

/// Those whose names begin so.
void remove_dead(const fs::path& folder, std::string_view start) {
    std::error_code code;
    fs::directory_iterator entries(folder, code);
    for (const fs::directory_iterator end; !code && entries != end; entries.increment(code)) {
        const auto& path = entries->path();
        const auto name = path.filename().native();
        std::error_code ignored;
        if (!name.starts_with(start) || !is_temporary_name(name) ||
            !entries->is_regular_file(ignored) || entries->is_symlink(ignored))
            continue;
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
    }
}

}  // namespace

fs::path folder_for_temporary() {
    std::error_code code;
    auto folder = fs::temp_directory_path(code);
    return code ? fs::path("/tmp") : folder;
}

std::string random_suffix() {
    // Not std::random_device: it asks the processor, which takes 50 µs in some virtual machines.
    std::uint32_t number = 0;
    if (::getentropy(&number, sizeof number) != 0)  // a kernel of 2014 or older
        number =
            static_cast<std::uint32_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return fmt::format("{:08x}", number);
}

std::string temporary_name(const fs::path& path) {
    return fmt::format("{}{}{}", path.native(), kMark, random_suffix());
}

bool keep_from_removal(const Descriptor& file) {
    // The kernel drops the lock with the process.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    struct stat status {};
    return ::fstat(file.get(), &status) != 0 || status.st_nlink > 0;
}

void remove_dead_temporaries(const fs::path& folder) { remove_dead(folder, ""); }

void remove_dead_temporaries_of(const fs::path& file) {
    remove_dead(file.parent_path(), file.filename().native() + std::string(kMark));
}

}  // namespace gpkg
