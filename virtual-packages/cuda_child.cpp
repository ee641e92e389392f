#include "virtual-packages/cuda_internal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace gpkg::virtual_packages {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostOutput = 65536;

class Pipe {
public:
    Pipe() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close(0);
        close(1);
    }
    bool is_open() const { return ends_[0] >= 0; }
    int reader() const { return ends_[0]; }
    int writer() const { return ends_[1]; }
    void close_writer() { close(1); }

private:
    void close(std::size_t which) {
        if (ends_.at(which) >= 0) ::close(ends_.at(which));
        ends_.at(which) = -1;
    }
    std::array<int, 2> ends_{-1, -1};
};

/// posix_spawn's two records, set up for a quiet child in a process group of its own.
class SpawnPlan {
public:
    explicit SpawnPlan(int output) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, output, 1);
        ::posix_spawnattr_init(&attributes_);
        sigset_t all;
        sigset_t none;
        ::sigfillset(&all);
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    /// 0, or the error.
    int spawn(pid_t& child, std::vector<char*>& arguments, std::vector<char*>& environment) const {
        return ::posix_spawn(&child,
                             arguments.front(),
                             &actions_,
                             &attributes_,
                             arguments.data(),
                             environment.data());
    }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

/// An empty or wrong CUDA_VISIBLE_DEVICES would hide what the machine has.
std::vector<char*> child_environment(std::string& mark) {
    std::vector<char*> kept{mark.data()};
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        if (!std::string_view(*entry).starts_with("CUDA_VISIBLE_DEVICES=")) kept.push_back(*entry);
    kept.push_back(nullptr);
    return kept;
}

/// Takes what is there without waiting. False at the end of the stream.
bool drain(int fd, std::string& output) {
    std::array<char, 4096> buffer{};
    for (;;) {
        const auto count = ::read(fd, buffer.data(), buffer.size());
        if (count == 0) return false;
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        const auto room = kMostOutput - std::min(kMostOutput, output.size());
        output.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
    }
}

/// True when the child is gone, with its end noted.
bool reap(pid_t child, ChildOutcome& outcome) {
    int status = 0;
    const auto result = ::waitpid(child, &status, WNOHANG);
    if (result == 0 || (result < 0 && errno == EINTR)) return false;
    if (result < 0) return true;  // somebody else took its status
    if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    return true;
}

void kill_and_abandon(pid_t child) {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
    ChildOutcome ignored;
    for (int tries = 0; tries < 25 && !reap(child, ignored); ++tries) ::poll(nullptr, 0, 2);
}

void watch(pid_t child, int fd, milliseconds limit, ChildOutcome& outcome) {
    const auto deadline = Clock::now() + limit;
    bool open = true;
    for (;;) {
        if (reap(child, outcome)) {
            // A helper of the driver may still hold the pipe: take what is there, do not wait.
            drain(fd, outcome.output);
            return;
        }
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
        if (left <= milliseconds::zero()) {
            outcome.timed_out = true;
            kill_and_abandon(child);
            drain(fd, outcome.output);
            return;
        }
        pollfd waiting{fd, POLLIN, 0};
        const auto nap = std::min(left, milliseconds(open ? 50 : 1));
        ::poll(open ? &waiting : nullptr, open ? 1 : 0, static_cast<int>(nap.count()));
        if (open) open = drain(fd, outcome.output);
    }
}

}  // namespace

ChildOutcome run_bounded(const std::vector<std::string>& arguments, milliseconds limit) {
    ChildOutcome outcome;
    Pipe pipe;
    if (!pipe.is_open() || ::fcntl(pipe.reader(), F_SETFL, O_NONBLOCK) != 0) {
        outcome.start_failure = std::strerror(errno);
        return outcome;
    }
    auto texts = arguments;
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    auto mark = std::string(kProbingVariable) + "=1";
    auto environment = child_environment(mark);

    pid_t child = -1;
    if (const int code = SpawnPlan(pipe.writer()).spawn(child, pointers, environment); code != 0) {
        outcome.start_failure = std::strerror(code);
        return outcome;
    }
    pipe.close_writer();
    watch(child, pipe.reader(), limit, outcome);
    return outcome;
}

}  // namespace gpkg::virtual_packages
