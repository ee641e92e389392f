#include "libcore/build/run_claim.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/process_identity.hpp"
#include "libcore/fs/temporary.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace gpkg {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(50);
/// Held while a run looks at the claims of others and writes its own.
constexpr const char* kDoor = ".door";

Descriptor open_to_lock(const fs::path& file, int more) {
    return Descriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC | more, 0666));
}

bool try_to_lock(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// What the file of a living run says of one of the names, if it has one: "process 4711 on node3,
/// which builds NAME".
std::optional<std::string> claimed(const fs::path& file, const std::set<std::string>& names) {
    const auto text = read_file(file);
    if (!text) return std::nullopt;
    const auto lines = split(*text, '\n');
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (names.contains(std::string(lines[i])))
            return fmt::format("{}, which builds {}", lines[0], lines[i]);
    }
    return std::nullopt;
}

/// The run that has one of the names, if any. Claims of runs that are gone are removed.
std::optional<std::string> find_holder(const fs::path& folder, const std::set<std::string>& names) {
    std::optional<std::string> holder;
    std::error_code code;
    fs::directory_iterator entries(folder, code);
    for (const fs::directory_iterator end; !code && entries != end; entries.increment(code)) {
        const auto& path = entries->path();
        if (path.filename() == kDoor) continue;
        const auto file = open_to_lock(path, 0);
        if (!file) continue;
        if (try_to_lock(file)) {
            ::unlink(path.c_str());
        } else if (!holder) {
            holder = claimed(path, names);
        }
    }
    return holder;
}

}  // namespace

RunClaim::RunClaim(RunClaim&& other) noexcept
    : file_(std::exchange(other.file_, {})),
      descriptor_(std::move(other.descriptor_)),
      warning_(std::move(other.warning_)) {}

RunClaim::~RunClaim() {
    // Removed while it is still held: who waits finds nothing, or nobody behind it.
    if (descriptor_) ::unlink(file_.c_str());
}

Result<RunClaim> RunClaim::take(const fs::path& work,
                                const std::set<std::string>& names,
                                const Waiting& waiting) {
    const auto folder = work / "runs";
    GPKG_CHECK(make_folders(folder));
    const auto began = Clock::now();
    bool is_told = false;
    RunClaim claim;
    if (is_on_shared_file_system(folder)) {
        claim.warning_ = fmt::format(
            "{}: shared file system, builds are not locked; do not build the same packages on "
            "another machine at the same time",
            work.native());
        return claim;
    }
    for (;; std::this_thread::sleep_for(kPause)) {
        const auto door = open_to_lock(folder / kDoor, O_CREAT);
        if (!door) return pass(io_error(folder / kDoor, "open", errno));
        const bool is_open = try_to_lock(door);
        if (!is_open && errno != EWOULDBLOCK) {
            claim.warning_ = fmt::format(
                "{}: the file system does not support locks ({}); do not build the same packages "
                "twice at the same time",
                work.native(),
                std::strerror(errno));
            return claim;
        }
        if (is_open) {
            const auto holder = find_holder(folder, names);
            if (!holder) {
                GPKG_CHECK(claim.write(folder, names));
                return claim;
            }
            if (!is_told && waiting.told && Clock::now() - began >= waiting.told_after) {
                is_told = true;
                waiting.told(*holder);
            }
        }
        if (waiting.cancelled && waiting.cancelled())
            return fail(ErrorKind::Interrupted, "interrupted");
    }
}

Result<void> RunClaim::write(const fs::path& folder, const std::set<std::string>& names) {
    const auto text = fmt::format("{}\n{}\n", this_process(), fmt::join(names, "\n"));
    file_ = folder / random_suffix();
    descriptor_ = open_to_lock(file_, O_CREAT | O_EXCL);
    if (!descriptor_ || !try_to_lock(descriptor_) || !write_fully(descriptor_.get(), text))
        return pass(io_error(file_, "write", errno));
    return {};
}

}  // namespace gpkg
