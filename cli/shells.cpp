#include "cli/shells.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gpkg::cli {

Result<Shell> parse_shell(std::string_view name) {
    if (const auto shell = shell_of(name)) return *shell;
    return fail(ErrorKind::Usage,
                fmt::format("--shell {}: is no shell that gpkg speaks", name),
                "bash, zsh, fish or posix");
}

std::optional<Shell> guess_shell(const EnvLookup& env) {
    // A login shell calls itself "-bash".
    const auto of = [](std::string_view name) {
        name = name.substr(name.rfind('/') + 1);
        if (name.starts_with('-')) name.remove_prefix(1);
        return shell_of(trim(name));
    };
    if (const auto parent = read_file(fmt::format("/proc/{}/comm", ::getppid()))) {
        if (const auto shell = of(*parent)) return shell;
    }
    return of(env("SHELL").value_or(""));
}

std::string_view shell_name(Shell shell) {
    switch (shell) {
    case Shell::Posix: return "posix";
    case Shell::Bash: return "bash";
    case Shell::Zsh: return "zsh";
    case Shell::Fish: return "fish";
    }
    return "posix";
}

std::string_view startup_file(Shell shell) {
    switch (shell) {
    case Shell::Posix: return "~/.profile";
    case Shell::Bash: return "~/.bashrc";
    case Shell::Zsh: return "~/.zshrc";
    case Shell::Fish: return "~/.config/fish/config.fish";
    }
    return "~/.profile";
}

void print_shell_code(Output& out, std::string_view code) {
    if (out.json_mode()) {
        out.json({{"success", true}, {"code", code}});
        return;
    }
    while (code.ends_with('\n')) code.remove_suffix(1);
    if (!code.empty()) out.result(code);
}

}  // namespace gpkg::cli
