#include "libcore/env/child_process_internal.hpp"
#include "libcore/env/disk_internal.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace gpkg {
namespace {

std::vector<std::string> environment_of(const ChildProcess& child) {
    std::vector<std::string> out;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto name = text.substr(0, text.find('='));
        bool replaced = child.variables.contains(std::string(name));
        for (const auto& without : child.without_variables) replaced |= without == name;
        if (!replaced) out.emplace_back(text);
    }
    for (const auto& [name, value] : child.variables)
        out.push_back(fmt::format("{}={}", name, value));
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (auto& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

}  // namespace

Result<pid_t> start(const ChildProcess& child) {
    auto command = child.command;
    auto environment = environment_of(child);
    const auto arguments = pointers(command);
    const auto variables = pointers(environment);
    const auto input = child.input.empty() ? fs::path("/dev/null") : child.input;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, 0, input.c_str(), O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(
        &actions, 1, child.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!child.folder.empty())
        ::posix_spawn_file_actions_addchdir_np(&actions, child.folder.c_str());
    // Signals that this program ignores or blocks are the child's to decide on.
    sigset_t none;
    sigset_t defaults;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    pid_t pid = 0;
    const int code = ::posix_spawn(
        &pid, command.front().c_str(), &actions, &attributes, arguments.data(), variables.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (code != 0) return pass(io_error(child.command.front(), "run", code));
    return pid;
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return 127;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<int> run(const ChildProcess& child) {
    GPKG_TRY(const auto pid, start(child));
    return wait_for(pid);
}

}  // namespace gpkg
