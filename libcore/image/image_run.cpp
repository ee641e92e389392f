#include "libcore/image/image_run.hpp"

#include "libcore/fs/file_system.hpp"
#include "libcore/fs/workplace.hpp"
#include "libcore/image/mount_point_internal.hpp"
#include "libcore/image/private_view_internal.hpp"
#include "libcore/image/squashfs_mount_internal.hpp"
#include "libcore/process/process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gpkg {
namespace {

using namespace std::chrono_literals;

/// A signal asked to stop before the command was started; 0: none did.
volatile std::sig_atomic_t asked_to_stop = 0;

tl::unexpected<Error> interrupted() { return fail(ErrorKind::Interrupted, "interrupted"); }

bool write_to(const char* file, const std::string& text) {
    const Descriptor to(::open(file, O_WRONLY | O_CLOEXEC));
    return to && write_fully(to.get(), text);
}

/// Maps one user and group to others, seen from inside.
Result<void> map_ids(uid_t inside_user, uid_t user, gid_t inside_group, gid_t group) {
    // A group may be mapped only by who can no longer drop it.
    if (!write_to("/proc/self/setgroups", "deny") && errno != ENOENT)
        return cannot("cannot write /proc/self/setgroups");
    if (!write_to("/proc/self/uid_map", fmt::format("{} {} 1", inside_user, user)) ||
        !write_to("/proc/self/gid_map", fmt::format("{} {} 1", inside_group, group)))
        return cannot("cannot map this user into a namespace");
    return {};
}

/// Mounts of this process from now on are its own.
class Namespace {
public:
    Result<void> enter() {
        // Root of a container may lack the right.
        if (user_ != 0 || ::unshare(CLONE_NEWNS) != 0) {
            if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
                return cannot("user namespaces are not available");
            is_mapped_ = true;
            GPKG_CHECK(map_ids(0, user_, 0, group_));
        }
        if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
            return cannot("cannot make mounts private");
        return {};
    }
    /// Whether this is root as the system's first namespace knows it.
    bool is_root() const { return user_ == 0 && !is_mapped_; }
    /// The user is who it was before, and can mount no more.
    Result<void> become_user_again() const {
        if (!is_mapped_ || user_ == 0) return {};
        if (::unshare(CLONE_NEWUSER) != 0) return cannot("cannot change back to this user");
        return map_ids(user_, 0, group_, 0);
    }

private:
    uid_t user_ = ::geteuid();
    gid_t group_ = ::getegid();
    bool is_mapped_ = false;
};

/// Where the image is to be seen.
struct Place {
    std::optional<MountPoint> folder{};  ///< what is mounted over, kept from being taken away
    std::optional<PrivateView> view{};
    std::optional<TemporaryFolder> unpacked{};  ///< beside the view, of which it would be part
};

Place private_place(const fs::path& mount_point, const ImageRunOptions& options) {
    Place place;
    place.view = private_view_for(mount_point);
    const auto& [top, at, open, is_readonly] = *place.view;
    if (open.empty()) {
        if (top != "/") place.folder.emplace(MountPoint::hold(top));
        return place;
    }
    if (options.note && !options.only_looks)
        options.note(fmt::format(
            "{}: you cannot create or use it, so the command sees a private view of {}: "
            "files that it creates directly there are visible only to it and are lost "
            "when it ends",
            at.native(),
            open.native()));
    if (auto beside = make_workplace(options.temporary)) place.unpacked = std::move(*beside);
    return place;
}

/// Folders are made where others put theirs as well, as in /tmp: a view would hide from others what
/// the command makes there. Where this user makes nothing, a view hides nothing.
Result<Place> place_for(const fs::path& mount_point, const ImageRunOptions& options) {
    const auto top = fs::path("/") / *std::next(mount_point.begin());
    if (options.only_looks || !is_there(top)) return private_place(mount_point, options);
    auto taken = MountPoint::take(mount_point);
    if (taken) return Place{std::move(*taken), {}, {}};
    if (taken.error().kind != ErrorKind::Unsupported) return pass(std::move(taken).error());
    return private_place(mount_point, options);
}

/// A mounted image; what serves it ends with this.
class Mounted {
public:
    Mounted() = default;
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;
    ~Mounted() {
        ::umount2(place_.c_str(), MNT_DETACH);
        if (server_ > 0) ::waitpid(server_, nullptr, 0);
        if (!unpacked_.empty()) static_cast<void>(remove_tree(unpacked_));
    }

    Result<void> mount(const fs::path& image,
                       const ImageInfo& info,
                       const Namespace& space,
                       const ImageRunOptions& options);

private:
    Result<void> by_squashfuse(const fs::path& image);
    Result<void> unpacked(const fs::path& image, const ImageInfo& info, const fs::path& temporary);

    fs::path place_;
    pid_t server_ = 0;
    fs::path unpacked_;
};

Result<void> Mounted::by_squashfuse(const fs::path& image) {
    GPKG_TRY(const auto program, usable_squashfuse());
    struct stat before {};
    struct stat now {};
    ::stat(place_.c_str(), &before);
    const pid_t self = ::getpid();
    server_ = ::fork();
    if (server_ < 0) return cannot("cannot start squashfuse");
    if (server_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != self) ::_exit(1);
        ::setpgid(0, 0);  // Ctrl-C is for the command
        const int nowhere = ::open("/dev/null", O_RDWR);
        ::dup2(nowhere, 0);
        ::dup2(nowhere, 1);
        ::dup2(nowhere, 2);
        ::execl(program.c_str(),
                program.c_str(),
                "-f",
                "-o",
                "ro",
                image.c_str(),
                place_.c_str(),
                nullptr);
        ::_exit(127);
    }
    for (auto waited = 0ms; waited < 10s; waited += 2ms) {
        if (::stat(place_.c_str(), &now) == 0 && now.st_dev != before.st_dev) return {};
        if (::waitpid(server_, nullptr, WNOHANG) == server_) {
            server_ = 0;
            return fail(ErrorKind::Unsupported, "squashfuse cannot mount it");
        }
        if (asked_to_stop != 0) break;
        std::this_thread::sleep_for(2ms);
    }
    ::kill(server_, SIGKILL);
    if (asked_to_stop != 0) return interrupted();
    return fail(ErrorKind::Unsupported, "squashfuse does not respond");
}

Result<void> Mounted::unpacked(const fs::path& image,
                               const ImageInfo& info,
                               const fs::path& temporary) {
    // All of it is read, so that it costs little to know that it is what was built.
    GPKG_CHECK(check_image(image, info, [](std::string_view) -> Result<void> {
        if (asked_to_stop != 0) return interrupted();
        return {};
    }));
    GPKG_TRY(auto folder, make_workplace(temporary));
    unpacked_ = folder.release();
    const auto& name = unpacked_.native();
    ProcessCommand command;
    command.arguments = {
        "unsquashfs", "-quiet", "-no-progress", "-force", "-dest", name, image.native()};
    command.cancelled = [] { return asked_to_stop != 0; };
    auto done = run_and_capture(command);
    if (!done && done.error().kind == ErrorKind::Interrupted) return interrupted();
    if (!done)
        return fail(ErrorKind::Unsupported,
                    done.error().message,
                    "install squashfuse, or squashfs-tools for unsquashfs");
    if (done->exit_code != 0)
        return fail(ErrorKind::Unsupported,
                    fmt::format("unsquashfs: {}", last_lines(done->output, 1)),
                    is_full(temporary) ? fmt::format("{} is full; set TMPDIR to another folder",
                                                     temporary.native())
                                       : "");
    if (::mount(name.c_str(), place_.c_str(), nullptr, MS_BIND, nullptr) != 0)
        return cannot("cannot bind it to the mount point");
    return {};
}

Result<void> Mounted::mount(const fs::path& image,
                            const ImageInfo& info,
                            const Namespace& space,
                            const ImageRunOptions& options) {
    place_ = info.mount_point;
    std::string reasons;
    if (space.is_root()) {
        auto done = mount_by_kernel(image, place_);
        if (done) return {};
        reasons = done.error().message + "; ";
    }
    auto fused = by_squashfuse(image);
    if (fused || fused.error().kind == ErrorKind::Interrupted) return fused;
    reasons += fused.error().message;
    if (options.note)
        options.note(fmt::format("note: {0}: cannot be mounted ({2}); unpacking it to {1}",
                                 image.native(),
                                 options.temporary.native(),
                                 reasons));
    auto done = unpacked(image, info, options.temporary);
    if (done || done.error().kind == ErrorKind::Interrupted ||
        done.error().kind == ErrorKind::Integrity)
        return done;
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: cannot be mounted ({}) or unpacked ({})",
                            image.native(),
                            reasons,
                            done.error().message),
                done.error().hint);
}

int status_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// What is to be told of a failure goes this way to the first process.
class Report {
public:
    Report() { ok_ = ::pipe2(ends_, O_CLOEXEC) == 0; }
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;
    ~Report() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    explicit operator bool() const { return ok_; }
    void send(const Error& error) const {
        const auto kind = static_cast<char>(error.kind);
        static_cast<void>(write_fully(ends_[1], kind + error.message + '\0' + error.hint));
    }
    /// Nothing where nothing failed. Once every other holder of the pipe's end has ended.
    std::optional<Error> receive() {
        ::close(std::exchange(ends_[1], -1));
        std::string text;
        char piece[4096];
        for (;;) {
            const auto count = ::read(ends_[0], piece, sizeof piece);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            text.append(piece, static_cast<std::size_t>(count));
        }
        if (text.empty()) return std::nullopt;
        const auto kind = static_cast<ErrorKind>(text.front());
        const auto cut = std::min(text.find('\0', 1), text.size() - 1);
        return Error{kind, text.substr(1, cut - 1), text.substr(cut + 1), {}};
    }

private:
    int ends_[2] = {-1, -1};
    bool ok_ = false;
};

volatile std::sig_atomic_t command_process = 0;

/// One that is ignored (nohup) stays so. Programs that are started get it as it was.
void catch_signal(int signal, const struct sigaction& action) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) return;
    ::sigaction(signal, &action, nullptr);
}

void unblock_signals() {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Signals that are sent to us are meant for the command; it ends, and we with its status. What a
/// terminal's keys send it gets as well.
void hand_on(int signal, siginfo_t* how, void* /*context*/) {
    const bool is_key = (signal == SIGINT || signal == SIGQUIT) && how->si_code == SI_KERNEL;
    if (command_process > 0 && !is_key) ::kill(static_cast<pid_t>(command_process), signal);
}

void hand_signals_on() {
    struct sigaction action {};
    action.sa_sigaction = hand_on;
    action.sa_flags = SA_SIGINFO;
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2})
        catch_signal(signal, action);
    unblock_signals();
}

void note_stop(int signal) { asked_to_stop = signal; }

/// Before the command is there; threads that wait for signals are not in this process.
void heed_signals() {
    struct sigaction action {};
    action.sa_handler = note_stop;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) catch_signal(signal, action);
    unblock_signals();
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status_of(status);
}

/// In the process that mounts.
Result<int> mount_and_run(const fs::path& image,
                          const ImageInfo& info,
                          const ImageRunOptions& options,
                          const Place& place,
                          const std::function<int()>& inside) {
    Namespace space;
    GPKG_CHECK(space.enter());
    if (place.view) GPKG_CHECK(enter_view(*place.view));
    Mounted mounted;
    GPKG_CHECK(mounted.mount(image, info, space, options));
    if (asked_to_stop != 0) return interrupted();
    const pid_t child = ::fork();
    if (child < 0) return cannot("cannot start a process");
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!space.become_user_again()) ::_exit(126);
        ::_exit(inside());
    }
    command_process = child;
    hand_signals_on();
    return wait_for(child);
}

}  // namespace

Result<int> run_in_image(const fs::path& image,
                         const ImageInfo& info,
                         const ImageRunOptions& options,
                         const std::function<int()>& inside) {
    std::error_code code;
    const auto file = fs::canonical(image, code);
    if (code) return pass(io_error(image, "open", code.value()));
    // Here, not in the namespace: a folder over which others see something is never removed here.
    GPKG_TRY(const auto place, place_for(info.mount_point, options));
    auto how = options;
    if (place.unpacked) how.temporary = place.unpacked->path();
    Report report;
    if (!report) return cannot("cannot make a pipe");
    const pid_t child = ::fork();
    if (child < 0) return cannot("cannot start a process");
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        heed_signals();
        const auto status = mount_and_run(file, info, how, place, inside);
        if (!status) report.send(status.error());
        ::_exit(status.value_or(1));
    }
    command_process = child;
    hand_signals_on();
    const int status = wait_for(child);
    if (auto error = report.receive()) return pass(std::move(*error));
    return status;
}

}  // namespace gpkg
