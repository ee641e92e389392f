#include "virtual-packages/child_internal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gpkg::virtual_packages {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostKept = std::size_t{64} << 10U;
/// What is not kept is read all the same, so that a program that talks too much can end.
constexpr std::size_t kMostRead = std::size_t{4} << 20U;

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
    bool never_blocks() const { return is_open() && ::fcntl(ends_[0], F_SETFL, O_NONBLOCK) == 0; }
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

/// posix_spawn's two records, set up for a quiet child in a session of its own: it has no terminal
/// that it could write to.
class SpawnPlan {
public:
    SpawnPlan(int output, int complaint) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, output, 1);
        ::posix_spawn_file_actions_adddup2(&actions_, complaint, 2);
        ::posix_spawnattr_init(&attributes_);
        sigset_t all;
        sigset_t none;
        ::sigfillset(&all);
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    /// 0, or the error.
    int spawn(pid_t& child, std::vector<char*> arguments, std::vector<char*> environment) const {
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

/// As the system calls want texts.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// One of the two streams of a child.
class Stream {
public:
    Stream(int fd, std::string& kept) : fd_(fd), kept_(kept) {}

    bool is_open() const { return fd_ >= 0; }
    int fd() const { return fd_; }
    bool truncated() const { return read_ > kMostKept; }
    bool flooded() const { return read_ > kMostRead; }

    /// Takes what is there without waiting, and of a flood only so much.
    void drain() {
        std::array<char, 4096> buffer{};
        while (is_open() && !flooded()) {
            const auto count = ::read(fd_, buffer.data(), buffer.size());
            if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
            if (count <= 0) {
                fd_ = -1;
                return;
            }
            const auto bytes = static_cast<std::size_t>(count);
            kept_.append(buffer.data(), std::min(kMostKept - kept_.size(), bytes));
            read_ += bytes;
        }
    }

private:
    int fd_;  ///< the pipe's; -1 once it has ended
    std::string& kept_;
    std::size_t read_ = 0;
};

class Watch {
public:
    Watch(pid_t child, const Pipe& output, const Pipe& complaint, ChildOutcome& outcome)
        : child_(child),
          outcome_(outcome),
          output_(output.reader(), outcome.output),
          complaint_(complaint.reader(), outcome.complaint) {}

    void until(Clock::time_point deadline) {
        while (!has_ended()) {
            const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
            outcome_.timed_out = left <= milliseconds::zero();
            outcome_.flooded = output_.flooded() || complaint_.flooded();
            if (outcome_.timed_out || outcome_.flooded) {
                kill_and_abandon();
                break;
            }
            wait(left);
            drain();
        }
        // Another process may still hold the pipes: take what is there, do not wait.
        drain();
        outcome_.truncated = output_.truncated() || complaint_.truncated();
    }

private:
    void drain() {
        output_.drain();
        complaint_.drain();
    }

    void wait(milliseconds left) {
        std::array<pollfd, 2> waiting{pollfd{output_.fd(), POLLIN, 0},
                                      pollfd{complaint_.fd(), POLLIN, 0}};
        // The end of a stream is told by poll, that of the process by asking now and then.
        const bool open = output_.is_open() || complaint_.is_open();
        const auto nap = std::min(left, milliseconds(open ? 50 : 1));
        ::poll(waiting.data(), waiting.size(), static_cast<int>(nap.count()));
    }

    /// True when the child is gone, with its end noted and what it left behind killed.
    bool has_ended() {
        siginfo_t info{};
        const int result =
            ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT);
        if (result < 0) return errno != EINTR;  // somebody else took its status
        if (info.si_pid == 0) return false;
        // As long as it is not reaped, no other group has its number.
        ::kill(-child_, SIGKILL);
        int status = 0;
        ::waitpid(child_, &status, WNOHANG);
        if (WIFEXITED(status)) outcome_.exit_status = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
        return true;
    }

    void kill_and_abandon() const {
        ::kill(-child_, SIGKILL);
        ::kill(child_, SIGKILL);
        for (int tries = 0; tries < 25 && ::waitpid(child_, nullptr, WNOHANG) == 0; ++tries)
            ::poll(nullptr, 0, 2);
    }

    pid_t child_;
    ChildOutcome& outcome_;
    Stream output_;
    Stream complaint_;
};

}  // namespace

ChildOutcome run_bounded(Child child) {
    ChildOutcome outcome;
    Pipe output;
    Pipe complaint;
    if (!output.never_blocks() || !complaint.never_blocks()) {
        outcome.start_failure = std::strerror(errno);
        return outcome;
    }
    child.environment.push_back(std::string(kProbingVariable) + "=1");
    pid_t process = -1;
    if (const int code =
            SpawnPlan(output.writer(), complaint.writer())
                .spawn(process, pointers_to(child.arguments), pointers_to(child.environment));
        code != 0) {
        outcome.start_failure = std::strerror(code);
        return outcome;
    }
    output.close_writer();
    complaint.close_writer();
    Watch(process, output, complaint, outcome).until(Clock::now() + child.limit);
    return outcome;
}

std::string seconds_text(milliseconds time) {
    return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

}  // namespace gpkg::virtual_packages
