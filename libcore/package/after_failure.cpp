#include "libcore/package/after_failure_internal.hpp"
#include "libcore/package/store.hpp"
#include "libcore/package/verify.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

/// By then the system has written out what was written; Linux begins after 30 seconds.
constexpr std::int64_t kWriteBack = 60;

std::optional<std::int64_t> time_of(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return std::nullopt;
    return status.st_mtim.tv_sec;
}

/// A store that cannot be written to is not ours to keep account of.
void set_time(const fs::path& file, std::int64_t seconds) {
    const Descriptor mark(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!mark) return;
    const struct timespec moment { static_cast<time_t>(seconds), 0 };
    const struct timespec times[2] = {moment, moment};
    ::futimens(mark.get(), times);
}

}  // namespace

std::int64_t boot_time() {
    const auto text = read_file("/proc/stat");
    if (!text) return 0;
    constexpr std::string_view kKey = "\nbtime ";
    const auto place = text->find(kKey);
    std::int64_t seconds = 0;
    if (place != std::string::npos)
        std::from_chars(text->data() + place + kKey.size(), text->data() + text->size(), seconds);
    return seconds;
}

void settle_after_failure(const fs::path& store,
                          std::int64_t booted,
                          const std::function<std::vector<fs::path>()>& packages,
                          const fs::path& record) {
    std::error_code ignored;
    if (booted == 0 || !fs::is_directory(store, ignored)) return;
    const auto mark = store / ".written";
    const auto written = time_of(mark);
    if (written && *written < booted) {
        for (const auto& folder : packages()) {
            const auto unpacked = time_of(folder / record);
            const bool is_doubtful = unpacked && *unpacked > *written && *unpacked < booted;
            if (is_doubtful && !verify_unpacked(folder)) fs::remove(folder / record, ignored);
        }
    }
    // Not at every command: an older mark means that more is verified. A later one means nothing.
    const std::int64_t now = std::time(nullptr);
    const auto settled = std::max(now - kWriteBack, booted);
    const auto oldest = std::max(settled - kWriteBack, booted);
    if (!written || *written < oldest || *written > now) set_time(mark, settled);
}

}  // namespace gpkg
