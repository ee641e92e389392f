#include "libcore/process/process.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gpkg {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

std::map<std::string, std::string> bare_environment() {
    const char* path = std::getenv("PATH");
    return {{"PATH", path == nullptr ? std::string(kDefaultPath) : path}, {"LC_ALL", "C"}};
}

std::string find_in(const std::string& path, const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    for (const auto folder : split(path, ':')) {
        auto candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

/// What the child needs, made before the fork: after it only async-signal-safe calls are allowed,
/// as other threads may have held any lock.
struct Prepared {
    std::string program;
    std::vector<std::string> variables;
    std::vector<char*> argv;
    std::vector<char*> envp;
};

Prepared prepare(const ProcessCommand& command,
                 const std::map<std::string, std::string>& environment) {
    Prepared prepared;
    const auto path = environment.find("PATH");
    prepared.program = find_in(path == environment.end() ? std::string(kDefaultPath) : path->second,
                               command.arguments[0]);
    for (const auto& [name, value] : environment)
        prepared.variables.push_back(fmt::format("{}={}", name, value));
    for (const auto& argument : command.arguments)
        prepared.argv.push_back(const_cast<char*>(argument.c_str()));
    for (auto& variable : prepared.variables) prepared.envp.push_back(variable.data());
    prepared.argv.push_back(nullptr);
    prepared.envp.push_back(nullptr);
    return prepared;
}

/// What a program reads and writes.
struct Streams {
    Descriptor input;
    Descriptor output;
    Descriptor errors;  ///< none: the output
};

[[noreturn]] void become(const Prepared& prepared,
                         const ProcessCommand& command,
                         const Streams& streams,
                         int report) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also where gpkg itself is killed
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    if (command.umask) ::umask(*command.umask);
    const char* folder = command.folder.c_str();
    const auto& errors = streams.errors ? streams.errors : streams.output;
    const bool ready = ::dup2(streams.input.get(), 0) >= 0 &&
                       ::dup2(streams.output.get(), 1) >= 0 && ::dup2(errors.get(), 2) >= 0 &&
                       (*folder == '\0' || ::chdir(folder) == 0);
    if (ready) ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
    const int code = errno;
    [[maybe_unused]] const auto written = ::write(report, &code, sizeof code);
    ::_exit(127);
}

/// Ends all children, and theirs, which become children of this process when their parents end.
/// Without memory of its own: it runs after a fork.
void end_children() {
    for (;;) {
        std::array<char, 4096> list{};
        const Descriptor file(::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
        const auto size = file ? ::read(file.get(), list.data(), list.size() - 1) : 0;
        if (size <= 0) return;
        for (char* at = list.data(); *at != '\0';) {
            char* end = nullptr;
            const auto process = static_cast<pid_t>(std::strtol(at, &end, 10));
            if (end == at) break;
            // The last number may be cut off; the next round has it whole.
            if (*end != '\0') ::kill(process, SIGKILL);
            at = *end == '\0' ? end : end + 1;
        }
        ::waitpid(-1, nullptr, 0);
    }
}

/// The program as a child of its own process, which ends it with all that it started when the
/// caller is gone: `life` is the end of a pipe whose other end the caller has.
[[noreturn]] void supervise(const Prepared& prepared,
                            const ProcessCommand& command,
                            const Streams& streams,
                            int report,
                            int life) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child_ended, nullptr);
    const int ended = ::signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK);
    const pid_t program = ::fork();
    if (program == 0) become(prepared, command, streams, report);
    ::close(report);
    std::array<pollfd, 2> events{pollfd{life, POLLIN, 0}, pollfd{ended, POLLIN, 0}};
    int status = 0;
    while (program > 0) {
        ::poll(events.data(), events.size(), -1);
        if (events[0].revents != 0) break;
        std::array<signalfd_siginfo, 8> drained{};
        [[maybe_unused]] const auto size = ::read(ended, drained.data(), sizeof drained);
        pid_t done = 0;
        do {
            done = ::waitpid(-1, &status, WNOHANG);
        } while (done > 0 && done != program);
        if (done != program) continue;
        end_children();
        ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    end_children();
    ::_exit(128 + SIGKILL);
}

/// The caller's end of the pipe that a program writes to; never waits.
class Relay {
public:
    using Taker = std::function<void(std::string_view)>;
    Relay() = default;
    Relay(Descriptor from, Taker taker) : from_(std::move(from)), taker_(std::move(taker)) {}

    /// Hands over what there is.
    void pass_on() {
        std::array<char, 16384> buffer{};
        while (from_) {
            const auto count = ::read(from_.get(), buffer.data(), buffer.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno == EAGAIN) return;
            if (count <= 0) {
                from_.close();
                return;
            }
            taker_({buffer.data(), static_cast<std::size_t>(count)});
        }
    }

    explicit operator bool() const { return static_cast<bool>(from_); }
    int descriptor() const { return from_.get(); }

private:
    Descriptor from_;
    Taker taker_;
};

/// Both ends that a program may write to.
struct Relays {
    Relay output;
    Relay errors;

    void pass_on() {
        output.pass_on();
        errors.pass_on();
    }
    /// Until there is more, or for so long.
    void wait(std::chrono::milliseconds longest) const {
        if (!*this) return std::this_thread::sleep_for(longest);
        // A negative descriptor is passed over.
        std::array<pollfd, 2> more{pollfd{output.descriptor(), POLLIN, 0},
                                   pollfd{errors.descriptor(), POLLIN, 0}};
        ::poll(more.data(), more.size(), static_cast<int>(longest.count()));
    }
    explicit operator bool() const { return output || errors; }
};

/// What is cancelled may end by itself first, where it is given time for that.
void end(pid_t child, const ProcessCommand& command, Relays& relays) {
    int status = 0;
    if (command.grace.count() > 0) {
        const auto until = std::chrono::steady_clock::now() + command.grace;
        ::kill(-child, SIGTERM);
        while (std::chrono::steady_clock::now() < until) {
            relays.pass_on();
            if (::waitpid(child, &status, WNOHANG) == child) {
                ::kill(-child, SIGKILL);
                return;
            }
            relays.wait(std::chrono::milliseconds(20));
        }
    }
    ::kill(-child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
}

Result<int> wait_for(pid_t child, const ProcessCommand& command, Relays& relays) {
    int status = 0;
    auto pause = std::chrono::milliseconds(1);
    for (;;) {
        relays.pass_on();
        const bool looks_around = command.cancelled || relays;
        const auto ended = ::waitpid(child, &status, looks_around ? WNOHANG : 0);
        if (ended == child) break;
        if (ended < 0 && errno != EINTR) break;
        if (!looks_around) continue;
        if (command.cancelled && command.cancelled()) {
            end(child, command, relays);
            return fail(ErrorKind::Interrupted, "interrupted");
        }
        relays.wait(pause);
        pause = std::min(pause * 2, std::chrono::milliseconds(20));
    }
    // What the program left running would go on writing into its folders.
    ::kill(-child, SIGKILL);
    relays.pass_on();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The parent of a process; 0 where there is no such process.
pid_t parent_process(pid_t process) {
    const auto text = read_file(fmt::format("/proc/{}/stat", process));
    if (!text) return 0;
    // "4711 (any name) S 4710 ..."
    const auto name_end = text->rfind(')');
    if (name_end == std::string::npos || name_end + 4 >= text->size()) return 0;
    return static_cast<pid_t>(std::strtol(text->c_str() + name_end + 4, nullptr, 10));
}

std::vector<pid_t> own_children() {
    std::vector<pid_t> children;
    std::error_code code;
    fs::directory_iterator entries("/proc", code);
    for (const fs::directory_iterator end; !code && entries != end; entries.increment(code)) {
        const auto process =
            static_cast<pid_t>(std::strtol(entries->path().filename().c_str(), nullptr, 10));
        if (process > 0 && parent_process(process) == ::getpid()) children.push_back(process);
    }
    return children;
}

/// What a program reads: a file, or the end of a pipe whose other end is for `feed`.
Result<Descriptor> open_input(const ProcessCommand& command, Descriptor& feed) {
    if (command.feed) {
        int ends[2] = {-1, -1};
        if (::pipe2(ends, O_CLOEXEC) != 0)
            return fail(ErrorKind::Io,
                        fmt::format("cannot create a pipe: {}", std::strerror(errno)));
        feed = Descriptor(ends[1]);
        return Descriptor(ends[0]);
    }
    const auto source = command.input.empty() ? fs::path("/dev/null") : command.input;
    Descriptor file(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return pass(io_error(source, "read", errno));
    return file;
}

/// Feeds a program as long as it lives.
std::jthread start_feeding(const ProcessCommand& command, Descriptor end) {
    if (!command.feed) return {};
    return std::jthread([&command, end = std::move(end)]() mutable {
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        command.feed(end.get());
        end.close();
    });
}

/// The end of a pipe for a program to write to, whose other end `relay` reads.
Result<Descriptor> open_relay(Relay::Taker taker, Relay& relay) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return fail(ErrorKind::Io, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
    // Only our end: a program does not expect that its output would have to wait.
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    relay = Relay(Descriptor(ends[0]), std::move(taker));
    return Descriptor(ends[1]);
}

/// Where a program's outputs go: a file, or the ends of pipes.
Result<void> open_outputs(const ProcessCommand& command, Streams& streams, Relays& relays) {
    if (command.errors) {
        GPKG_TRY(streams.errors, open_relay(command.errors, relays.errors));
    }
    if (command.output) {
        GPKG_TRY(streams.output, open_relay(command.output, relays.output));
        return {};
    }
    const auto log = command.log.empty() ? fs::path("/dev/null") : command.log;
    streams.output =
        Descriptor(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!streams.output) return pass(io_error(log, "write", errno));
    return {};
}

}  // namespace

std::map<std::string, std::string> current_environment() {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto equals = text.find('=');
        if (equals != std::string_view::npos)
            variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return variables;
}

fs::path find_program(const std::string& name) {
    return find_in(bare_environment().at("PATH"), name);
}

Result<int> run_command(const ProcessCommand& command) {
    const auto& environment =
        command.environment.empty() ? bare_environment() : command.environment;
    const auto prepared = prepare(command, environment);
    if (prepared.program.empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: program not found on PATH", command.arguments[0]));

    Relays relays;
    Streams streams;
    GPKG_CHECK(open_outputs(command, streams, relays));
    Descriptor feed;
    GPKG_TRY(streams.input, open_input(command, feed));
    // Closed by a successful exec, so that an error of exec can be told from one of the program.
    int report[2] = {-1, -1};
    if (::pipe2(report, O_CLOEXEC) != 0)
        return fail(ErrorKind::Io, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
    int life[2] = {-1, -1};
    if (command.ends_with_caller && ::pipe2(life, O_CLOEXEC) != 0)
        return fail(ErrorKind::Io, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
    const Descriptor supervised(life[0]);
    const Descriptor alive(life[1]);
    const pid_t child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        if (!command.ends_with_caller) become(prepared, command, streams, report[1]);
        ::close(life[1]);
        supervise(prepared, command, streams, report[1], life[0]);
    }
    const int fork_error = errno;
    ::close(report[1]);
    streams = {};  // so that the pipes end with the program
    if (child < 0) {
        ::close(report[0]);
        return fail(
            ErrorKind::Io,
            fmt::format("{}: cannot start: {}", command.arguments[0], std::strerror(fork_error)));
    }
    ::setpgid(child, child);
    int code = 0;
    const auto reported = ::read(report[0], &code, sizeof code);
    ::close(report[0]);
    const auto feeding = start_feeding(command, std::move(feed));
    GPKG_TRY(const int ended, wait_for(child, command, relays));
    if (reported == sizeof code)
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot run: {}", prepared.program, std::strerror(code)));
    return ended;
}

Result<ProcessOutput> run_and_capture(ProcessCommand command) {
    ProcessOutput result;
    command.output = [&](std::string_view piece) { result.output += piece; };
    GPKG_TRY(result.exit_code, run_command(command));
    return result;
}

Orphanage::Orphanage() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

Orphanage::~Orphanage() {
    // The children of those that end become ours in turn.
    for (auto children = own_children(); !children.empty(); children = own_children()) {
        for (const auto child : children) {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

std::string last_lines(std::string_view text, std::size_t count) {
    text = trim(text);
    auto from = text.size();
    for (std::size_t lines = 0; lines < count && from != std::string_view::npos && from > 0;
         ++lines)
        from = text.rfind('\n', from - 1);
    const bool whole = from == std::string_view::npos || from == 0;
    return std::string(whole ? text : text.substr(from + 1));
}

std::string last_lines_of(const fs::path& log, std::size_t count) {
    constexpr std::streamoff kTail = 65'536;
    constexpr std::size_t kLongestLine = 1000;
    std::ifstream file(log, std::ios::binary | std::ios::ate);
    const auto size = static_cast<std::streamoff>(file.tellg());
    if (!file || size <= 0) return {};
    std::string text(static_cast<std::size_t>(std::min(size, kTail)), '\0');
    file.seekg(size - static_cast<std::streamoff>(text.size()));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    std::string shown;
    const auto last = last_lines(text, count);
    for (const auto line : split(last, '\n')) {
        if (!shown.empty()) shown += '\n';
        for (const char c : line.substr(0, kLongestLine)) {
            const bool is_command = static_cast<unsigned char>(c) < 0x20 && c != '\t';
            shown += is_command || c == 0x7f ? '?' : c;
        }
        if (line.size() > kLongestLine) shown += " ...";
    }
    return shown;
}

}  // namespace gpkg
