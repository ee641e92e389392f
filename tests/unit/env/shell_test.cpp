// Activation through the shells themselves.

#include "libcore/env/shell.hpp"

#include "libcore/base/text.hpp"
#include "tests/support/catch.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <sys/wait.h>

using namespace gpkg;

namespace shell_test {
namespace {

using Variables = std::map<std::string, std::string>;

const std::string kNasty =
    "quote's \"double\" $HOME $(touch pwned) `touch pwned` \\n \\ !x * ~ ''!'\\'\n\ttwo\n\n";

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
                                             {Shell::Tcsh, "tcsh", "-f"},
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
    for (const auto* name : {"_",
                             "SHLVL",
                             "PWD",
                             "OLDPWD",
                             "LOGNAME",
                             "HOST",
                             "HOSTTYPE",
                             "MACHTYPE",
                             "OSTYPE",
                             "VENDOR",
                             "GROUP",
                             "USER"})
        out.erase(name);
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

/// Commands for a script of that shell; `value` is in its words.
std::string exported(Shell shell, const std::string& name, const std::string& value) {
    if (shell == Shell::Fish) return fmt::format("set -gx {} {}\n", name, value);
    if (shell == Shell::Tcsh) return fmt::format("setenv {} {}\n", name, value);
    return fmt::format("export {}={}\n", name, value);
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
    const auto script = [&](const std::string& file, const std::string& text) {
        REQUIRE(write_file_atomically(prefix / "etc/conda" / file, text));
    };
    script("activate.d/x y.sh", "export SCRIPT=\"$CONDA_DEFAULT_ENV\"\n");
    script("deactivate.d/x y.sh", "unset SCRIPT\n");
    script("activate.d/x y.fish", "set -gx SCRIPT $CONDA_DEFAULT_ENV\n");
    script("deactivate.d/x y.fish", "set -e SCRIPT\n");
    script("activate.d/x y.csh", "setenv SCRIPT \"$CONDA_DEFAULT_ENV\"\n");
    script("deactivate.d/x y.csh", "unsetenv SCRIPT\n");
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
        const bool tcsh = shell.shell == Shell::Tcsh;
        Variables now{{"PATH", "/usr/bin:/bin"}};
        std::string script =
            tcsh ? "set prompt = 'base $ '\nsetenv SEEN ''\n" : "PS1='base $ '\nexport SEEN=\n";
        const auto step = [&](const Activation& activation) {
            script += shell_commands(activation, shell.shell) +
                      exported(shell.shell, "SEEN", tcsh ? "\"$SEEN|$prompt\"" : "\"$SEEN|$PS1\"");
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
        // It notes its words, and answers with code that says that it was evaluated.
        REQUIRE(write_file_atomically(world.path() / "asked", ""));
        REQUIRE(write_file_atomically(program,
                                      "#!/bin/sh\n"
                                      "case $1 in activate|reactivate)\n"
                                      "for word; do printf '<%s>' \"$word\" >> asked; done\n"
                                      "printf '%s;\\n' '" +
                                          std::string(trim(exported(shell.shell, "GOT", "$1"))) +
                                          "' | sed \"s/[$]1/$1/\";;\n"
                                          "deactivate) echo false; exit 4;;\n"
                                          "run) exit 5;; esac\n"));
        fs::permissions(program, fs::perms(0755));
        const bool tcsh = shell.shell == Shell::Tcsh;
        const auto keep = [&](const std::string& name) {
            return exported(
                shell.shell, name, tcsh || shell.shell == Shell::Fish ? "$status" : "$?");
        };
        auto hook = shell_hook(shell.shell, program);
        if (tcsh) {
            REQUIRE(write_file_atomically(world.path() / "it's!.csh", hook));
            hook = tcsh_alias(world.path() / "it's!.csh");
        }
        const auto after = variables_after(
            world.path(),
            shell,
            {{"PATH", "/usr/bin:/bin"}, {"HOME", world.path().native()}},
            hook + "gpkg activate -n '$(touch pwned) m  l`touch pwned`' '*'\n" +
                exported(shell.shell, "FIRST", "$GOT") + "gpkg deactivate\n" + keep("SECOND") +
                "gpkg run x\n" + keep("THIRD") + exported(shell.shell, "CONDA_PREFIX", "/x") +
                "gpkg install numpy\n" + "gpkg run x > written\n");
        const std::string name(shell_name(shell.shell));
        CHECK(after.at("FIRST") == "activate");
        CHECK(after.at("GOT") == "reactivate");
        CHECK(read_file(world.path() / "asked").value() ==
              fmt::format("<activate><--shell><{0}><-n><$(touch pwned) m  l`touch pwned`><*>"
                          "<reactivate><--shell><{0}>",
                          name));
        CHECK(fs::exists(world.path() / "written"));
        CHECK(after.at("SECOND") == "4");
        CHECK(after.at("THIRD") == "5");
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

// PowerShell itself is on no machine of ours: its rules as its language specification (2.3.5.2)
// states them.
TEST_CASE("a word of PowerShell doubles every character that is a single quote there",
          "[env][shell]") {
    CHECK(shell_quoted("a'b", Shell::PowerShell) == "'a''b'");
    CHECK(shell_quoted("\u2018\u2019\u201a\u201b\u201c", Shell::PowerShell) ==
          "'\u2018\u2018\u2019\u2019\u201a\u201a\u201b\u201b\u201c'");
    CHECK(shell_quoted("$x `n \"\n", Shell::PowerShell) == "'$x `n \"\n'");
    Activation activation;
    activation.variables = {{"A", "1"}, {"B", std::nullopt}};
    activation.activate_scripts = {"/x/it's.ps1"};
    CHECK(shell_commands(activation, Shell::PowerShell) ==
          "$Env:A = '1'\nRemove-Item -LiteralPath Env:B -ErrorAction SilentlyContinue\n"
          ". '/x/it''s.ps1'\n");
}

TEST_CASE("every byte of a value arrives", "[env][shell]") {
    const auto world = TemporaryFolder::make(fs::temp_directory_path()).value();
    std::string every;
    for (int byte = 1; byte < 256; ++byte) every += static_cast<char>(byte);
    for (const auto& shell : shells()) {
        CAPTURE(shell.program);
        Activation activation;
        activation.variables = {{"EVERY", every}, {"EMPTY", ""}, {"BREAKS", "\n\n"}};
        for (const auto* locale : {"C", "C.UTF-8"}) {
            const auto after = variables_after(world.path(),
                                               shell,
                                               {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", locale}},
                                               shell_commands(activation, shell.shell));
            CHECK((after.at("EVERY") == every));
            CHECK(after.at("EMPTY").empty());
            CHECK(after.at("BREAKS") == "\n\n");
        }
    }
}

}  // namespace shell_test
