#include "cli/signals.hpp"

#include "cli/context.hpp"
#include "cli/workflow/inside.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <pthread.h>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace gpkg::cli {
namespace {

std::atomic<int> first_signal = 0;

/// Requests the stop once nobody reads stdout: whatever is written there later is lost, and poll()
/// tells of it before any write.
void watch_stdout(std::stop_source unread) {
    pollfd watched{STDOUT_FILENO, 0, 0};
    while (::poll(&watched, 1, -1) < 0) {
    }
    if ((watched.revents & POLLERR) != 0) unread.request_stop();
}

[[noreturn]] void wait_for_signals(sigset_t signals,
                                   std::stop_source source,
                                   std::stop_source unread) {
    constexpr std::chrono::milliseconds kSameSignal{500};
    int signal = 0;
    sigwait(&signals, &signal);
    first_signal = signal;
    source.request_stop();
    unread.request_stop();
    const auto start = std::chrono::steady_clock::now();
    do {
        sigwait(&signals, &signal);
    } while (signal == first_signal && std::chrono::steady_clock::now() - start < kSameSignal);
    constexpr std::string_view kMessage =
        "gpkg: killed; the next gpkg command repairs unfinished changes\n";
    static_cast<void>(::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
    ::_exit(128 + signal);
}

}  // namespace

StopTokens catch_signals() {
    remember_signals();
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error, reported by the write
    sigset_t signals{};
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::stop_source source;
    std::stop_source unread;
    std::thread(wait_for_signals, signals, source, unread).detach();
    std::thread(watch_stdout, unread).detach();
    return {source.get_token(), unread.get_token()};
}

int stop_signal() { return first_signal; }

Result<void> check_stop(const Context& context) {
    if (context.stop.stop_requested()) return fail(ErrorKind::Interrupted, "interrupted");
    return {};
}

}  // namespace gpkg::cli
