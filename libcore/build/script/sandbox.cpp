#include "libcore/build/script/sandbox.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/payload.hpp"

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

// One user and one machine's name for all builds; both get into archives and version texts.
constexpr auto kIdentity = std::to_array<std::string_view>(
    {"--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "localhost"});
constexpr std::string_view kUsers =
    "root:x:0:0:root:/root:/bin/sh\n"
    "build:x:1000:1000:build:/gpkg-build/home:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n";
constexpr std::string_view kGroups = "root:x:0:\nbuild:x:1000:\nnogroup:x:65534:\n";

/// Where nobody may make a namespace of users, the script is who runs gpkg.
std::vector<std::string> isolation(bool network, bool has_identity) {
    std::vector<std::string> arguments{
        "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"};
    if (has_identity) arguments.insert(arguments.end(), kIdentity.begin(), kIdentity.end());
    if (!network) arguments.emplace_back("--unshare-net");
    for (const auto folder : kMachine) {
        for (const auto part : {std::string_view("--ro-bind-try"), folder, folder})
            arguments.emplace_back(part);
    }
    for (const auto* part : {"--proc", "/proc", "--dev", "/dev"}) arguments.emplace_back(part);
    return arguments;
}

std::optional<std::string> try_bubblewrap(bool has_identity) {
    const auto program = find_program("bwrap");
    if (program.empty()) return "bubblewrap (bwrap) is not installed";
    ProcessCommand command;
    command.arguments = isolation(false, has_identity);
    command.arguments.insert(command.arguments.begin(), program.native());
    command.arguments.emplace_back("true");
    const auto tried = run_and_capture(command);
    if (!tried) return tried.error().message;
    if (tried->exit_code == 0) return std::nullopt;
    return fmt::format("bubblewrap does not work here: {}", trim(tried->output));
}

/// Asked of the machine once.
bool can_have_identity() {
    static const bool can = !try_bubblewrap(true);
    return can;
}

}  // namespace

std::optional<std::string> why_no_sandbox() {
    return can_have_identity() ? std::nullopt : try_bubblewrap(false);
}

Result<ProcessCommand> in_sandbox(ProcessCommand command, const SandboxView& view) {
    const auto users = view.build_folder / "passwd";
    const auto groups = view.build_folder / "group";
    GPKG_CHECK(write_file_atomically(users, kUsers));
    GPKG_CHECK(write_file_atomically(groups, kGroups));
    auto arguments = isolation(view.network, can_have_identity());
    arguments.insert(arguments.begin(), find_program("bwrap").native());
    const auto bind = [&](std::string_view how, const fs::path& from, std::string_view to) {
        arguments.emplace_back(how);
        arguments.push_back(from.native());
        arguments.emplace_back(to);
    };
    bind("--ro-bind", users, "/etc/passwd");
    bind("--ro-bind", groups, "/etc/group");
    bind("--bind", view.build_folder / "tmp", "/tmp");
    bind("--ro-bind", view.recipe, kSandboxRecipe);
    bind("--bind", view.build_folder, kSandboxFolder);
    bind("--bind", view.prefix, canonical_placeholder());
    arguments.insert(arguments.end(), {"--chdir", command.folder.native(), "--"});
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    command.arguments = std::move(arguments);
    command.folder = view.build_folder;
    return command;
}

}  // namespace gpkg
