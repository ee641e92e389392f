// Activation through the shells themselves.

#include "libcore/env/shell.hpp"

#include "libcore/base/text.hpp"
#include "tests/support/catch.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <sys/wait.h>

using namespace gpkg;

namespace {

using Variables = std::map<std::string, std::string>;

const std::string kNasty =
    "quote's \"double\" $HOME $(touch pwned) `touch pwned` \\n \\ !x *\n\ttwo";

struct ShellUnderTest {
    Shell shell;
    std::string program;
    std::string flags;
};

std::string output_of(const std::string& command) {
    std::string out;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return out;
    char piece[4096];
    for (std::size_t n = 0; (n = ::fread(piece, 1, sizeof piece, pipe)) > 0;) out.append(piece, n);
    ::pclose(pipe);
    return out;
}

/// The shells of this machine; says aloud which are missing.
std::vector<ShellUnderTest> shells() {
    std::vector<ShellUnderTest> out;
    const std::vector<ShellUnderTest> wanted{{Shell::Bash, "bash", "--norc --noprofile"},
                                             {Shell::Zsh, "zsh", "-f"},
                                             {Shell::Fish, "fish", "--no-config"},
                                             {Shell::Posix, "dash", ""}};
    for (const auto& shell : wanted) {
        if (output_of("command -v " + shell.program).empty()) {
            WARN("skipped: no " << shell.program << " on this machine");
        } else {
            out.push_back(shell);
        }
    }
    return out;
}

/// What a shell that starts with `before` has in its environment after `commands`.
Variables variables_after(const fs::path& folder,
                          const ShellUnderTest& shell,
                          const Variables& before,
                          const std::string& commands) {
    std::string start = "cd " + shell_quoted(folder.native(), Shell::Posix) + " && env -i";
    for (const auto& [name, value] : before)
        start += " " + name + "=" + shell_quoted(value, Shell::Posix);
    REQUIRE(write_file_atomically(folder / "script", commands + "\n/usr/bin/env -0\n"));
    const auto text = output_of(start + " $(command -v " + shell.program + ") " + shell.flags +
                                " ./script 2>errors");
    Variables out;
    for (const auto entry : split(text, '\0')) {
        const auto equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        out[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
    }
    // What shells set by themselves.
    for (const auto* name : {"_", "SHLVL", "PWD", "OLDPWD", "LOGNAME"}) out.erase(name);
    CHECK_THAT(read_file(folder / "errors").value(), Catch::Matchers::Equals(""));
    CHECK_FALSE(fs::exists(folder / "pwned"));
    return out;
}

EnvLookup lookup(const Variables& variables) {
    return [&variables](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(std::string(name));
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

std::string json_text(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else {
            out += c;
        }
    }
    return out + "\"";
}

}  // namespace

TEST_CASE("every shell enters and leaves, whatever the values", "[env][shell]") {
    const auto world = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto& folder = world.path();
    const auto prefix = folder / "envs" / "we'ird $(touch pwned) `x` \"q\"";
    REQUIRE(write_file_atomically(prefix / "conda-meta/history", ""));
    REQUIRE(write_file_atomically(
        prefix / "conda-meta/state",
        fmt::format(R"({{"env_vars":{{"FOO":{},"NEW":"","UNSET":"***unset***"}}}})",
                    json_text(kNasty))));
    for (const auto* extension : {".sh", ".fish"}) {
        const bool fish = std::string_view(extension) == ".fish";
        REQUIRE(
            write_file_atomically(prefix / ("etc/conda/activate.d/x y" + std::string(extension)),
                                  fish ? "set -gx SCRIPT $CONDA_DEFAULT_ENV\n"
                                       : "export SCRIPT=\"$CONDA_DEFAULT_ENV\"\n"));
        REQUIRE(
            write_file_atomically(prefix / ("etc/conda/deactivate.d/x y" + std::string(extension)),
                                  fish ? "set -e SCRIPT\n" : "unset SCRIPT\n"));
    }
    const ActivateOptions options;
    for (const auto& shell : shells()) {
        CAPTURE(shell.program);
        const Variables start{{"PATH", "/usr/bin:/bin:/odd dir"},
                              {"FOO", "before " + kNasty},
                              {"UNSET", "was set"},
                              {"HOME", folder.native()}};
        const auto before = variables_after(folder, shell, start, "");
        const auto entering = activate(prefix, lookup(before), shell.shell, options).value();
        const auto inside =
            variables_after(folder, shell, before, shell_commands(entering, shell.shell));
        CHECK(inside.at("FOO") == kNasty);
        CHECK(inside.at("NEW").empty());
        CHECK_FALSE(inside.contains("UNSET"));
        CHECK(inside.at("PATH") == prefix.native() + "/bin:/usr/bin:/bin:/odd dir");
        CHECK(inside.at("CONDA_PREFIX") == prefix.native());
        CHECK(inside.at("SCRIPT") == prefix.filename().native());

        const auto leaving = deactivate(lookup(inside), shell.shell, options).value();
        CHECK(variables_after(folder, shell, inside, shell_commands(leaving, shell.shell)) ==
              before);
    }
}

TEST_CASE("the prompt of a posix shell gets and loses its modifier", "[env][shell]") {
    const auto world = TemporaryFolder::make(fs::temp_directory_path()).value();
    for (const auto* name : {"a", "b"})
        REQUIRE(write_file_atomically(world.path() / "envs" / name / "conda-meta/history", ""));
    const ActivateOptions options;
    for (const auto& shell : shells()) {
        if (shell.shell == Shell::Fish) continue;
        CAPTURE(shell.program);
        Variables now{{"PATH", "/usr/bin:/bin"}};
        std::string script = "PS1='base $ '\n";
        const auto step = [&](const Activation& activation) {
            script += shell_commands(activation, shell.shell) + "export SEEN=\"${SEEN-}|$PS1\"\n";
            for (const auto& [name, value] : activation.variables) {
                if (value) {
                    now[name] = *value;
                } else {
                    now.erase(name);
                }
            }
        };
        const auto envs = world.path() / "envs";
        step(activate(envs / "a", lookup(now), shell.shell, options).value());
        step(activate(envs / "b", lookup(now), shell.shell, options).value());
        step(deactivate(lookup(now), shell.shell, options).value());
        step(deactivate(lookup(now), shell.shell, options).value());
        const auto after =
            variables_after(world.path(), shell, {{"PATH", "/usr/bin:/bin"}}, script);
        CHECK(after.at("SEEN") == "|(a) base $ |(b) base $ |(a) base $ |base $ ");
    }
}

TEST_CASE("the hook evaluates activation and passes the rest on", "[env][shell]") {
    const auto world = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto program = world.path() / "a b's gpkg";
    for (const auto& shell : shells()) {
        CAPTURE(shell.program);
        const bool fish = shell.shell == Shell::Fish;
        const std::string set = fish ? "set -gx GOT \\\"$*\\\"" : "export GOT=\\\"$*\\\"";
        REQUIRE(write_file_atomically(program,
                                      "#!/bin/sh\n"
                                      "case $1 in activate|reactivate) echo \"" +
                                          set +
                                          "\";;\n"
                                          "deactivate) echo false; exit 4;;\n"
                                          "run) exit 5;; esac\n"));
        fs::permissions(program, fs::perms(0755));
        const std::string status = fish ? "$status" : "$?";
        const auto keep = [&](const std::string& name) {
            return fish ? fmt::format("set -gx {} {}\n", name, status)
                        : fmt::format("export {}={}\n", name, status);
        };
        const auto after = variables_after(
            world.path(),
            shell,
            {{"PATH", "/usr/bin:/bin"}, {"HOME", world.path().native()}},
            shell_hook(shell.shell, program) + "gpkg activate -n ml\n" +
                (fish ? "set -gx FIRST $GOT\n" : "export FIRST=\"$GOT\"\n") + "gpkg deactivate\n" +
                keep("SECOND") + "gpkg run x\n" + keep("THIRD") +
                (fish ? "set -gx CONDA_PREFIX /x\n" : "export CONDA_PREFIX=/x\n") +
                "gpkg install numpy\n");
        const std::string name = fish                         ? "fish"
                                 : shell.shell == Shell::Zsh  ? "zsh"
                                 : shell.shell == Shell::Bash ? "bash"
                                                              : "posix";
        CHECK(after.at("FIRST") == "activate --shell " + name + " -n ml");
        CHECK(after.at("SECOND") == "4");
        CHECK(after.at("THIRD") == "5");
        CHECK(after.at("GOT") == "reactivate --shell " + name);
    }
}

TEST_CASE("a command that is run behind a shell gets its arguments and variables", "[env][shell]") {
    const auto world = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto prefix = world.path() / "it's here";
    REQUIRE(write_file_atomically(prefix / "conda-meta/history", ""));
    REQUIRE(write_file_atomically(prefix / "etc/conda/activate.d/x.sh",
                                  "export Y=\"$CONDA_PREFIX\"; echo noise\n"));
    const Variables outside{{"PATH", "/usr/bin:/bin"}};
    const auto wrapped =
        run_environment(
            prefix, lookup(outside), {"sh", "-c", "printf '%s|' \"$Y\" \"$@\"", "sh", kNasty}, {})
            .value();
    std::string line = "env -i PATH=/usr/bin:/bin";
    for (const auto& word : wrapped.command) line += " " + shell_quoted(word, Shell::Posix);
    CHECK(output_of(line + " 2>/dev/null") == prefix.native() + "|" + kNasty + "|");
}
