#include "libcore/build/sandbox.hpp"

#include "libcore/base/text.hpp"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

// The machine's own programs, libraries and settings. What a build may need of them, a compiler
// say, is there; homes, other mounts and packages of other environments are not.
constexpr auto kMachine = std::to_array<std::string_view>({"/usr",
                                                           "/bin",
                                                           "/sbin",
                                                           "/lib",
                                                           "/lib32",
                                                           "/lib64",
                                                           "/libx32",
                                                           "/etc",
                                                           "/sys/devices/system/cpu"});

std::vector<std::string> isolation(bool network) {
    std::vector<std::string> arguments{
        "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"};
    if (!network) arguments.emplace_back("--unshare-net");
    for (const auto folder : kMachine) {
        for (const auto part : {std::string_view("--ro-bind-try"), folder, folder})
            arguments.emplace_back(part);
    }
    for (const auto* part : {"--proc", "/proc", "--dev", "/dev"}) arguments.emplace_back(part);
    return arguments;
}

std::optional<std::string> try_bubblewrap() {
    const auto program = find_program("bwrap");
    if (program.empty()) return "bubblewrap (bwrap) is not installed";
    ProcessCommand command;
    command.arguments = isolation(false);
    command.arguments.insert(command.arguments.begin(), program.native());
    command.arguments.emplace_back("true");
    const auto tried = run_and_capture(command);
    if (!tried) return tried.error().message;
    if (tried->exit_code == 0) return std::nullopt;
    return fmt::format("bubblewrap does not work here: {}", trim(tried->output));
}

}  // namespace

std::optional<std::string> why_no_sandbox() { return try_bubblewrap(); }

ProcessCommand in_sandbox(ProcessCommand command, const SandboxView& view) {
    auto arguments = isolation(view.network);
    arguments.insert(arguments.begin(), find_program("bwrap").native());
    const auto bind = [&](std::string_view how, const fs::path& from, const fs::path& to) {
        arguments.emplace_back(how);
        arguments.push_back(from.native());
        arguments.push_back(to.native());
    };
    bind("--bind", view.build_folder / "tmp", "/tmp");
    for (const auto& path : view.readable) bind("--ro-bind", path, path);
    bind("--bind", view.build_folder, view.build_folder);
    arguments.insert(arguments.end(), {"--chdir", command.folder.native(), "--"});
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    command.arguments = std::move(arguments);
    return command;
}

}  // namespace gpkg
