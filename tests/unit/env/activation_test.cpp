#include "libcore/env/activation.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <random>

using namespace gpkg;

namespace activation_test {
namespace {

using Variables = std::map<std::string, std::string>;

EnvLookup lookup(const Variables& variables) {
    return [&variables](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(std::string(name));
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

void carry_out(Variables& variables, const Activation& activation) {
    for (const auto& [name, value] : activation.variables) {
        if (value) {
            variables[name] = *value;
        } else {
            variables.erase(name);
        }
    }
}

/// A root prefix with environments "a" and "b".
class Shelf {
public:
    Shelf() : root_(TemporaryFolder::make(fs::temp_directory_path()).value()) {
        for (const auto* name : {"a", "b"}) REQUIRE(write("conda-meta/history", "", name));
    }
    fs::path path(const std::string& name) const { return root_.path() / "envs" / name; }
    std::string bin(const std::string& name) const { return (path(name) / "bin").native(); }
    Result<void> write(const std::string& file, const std::string& text, const std::string& env) {
        return write_file_atomically(path(env) / file, text);
    }
    ActivateOptions options(bool stack = false) const {
        return {.stack = stack, .folders = {root_.path(), {root_.path() / "envs"}}};
    }
    Activation enter(Variables& variables, const std::string& name, bool stack = false) {
        auto out = activate(path(name), lookup(variables), Shell::Bash, options(stack)).value();
        carry_out(variables, out);
        return out;
    }
    Activation leave(Variables& variables) {
        auto out = deactivate(lookup(variables), Shell::Bash, options()).value();
        carry_out(variables, out);
        return out;
    }

private:
    TemporaryFolder root_;
};

std::vector<std::string> names(const std::vector<fs::path>& files) {
    std::vector<std::string> out;
    out.reserve(files.size());
    for (const auto& file : files) out.push_back(file.filename());
    return out;
}

}  // namespace

TEST_CASE("entering and leaving give back what was there", "[env]") {
    Shelf shelf;
    REQUIRE(shelf.write("conda-meta/state", R"({"env_vars":{"FOO":"a","NEW":"n"}})", "a"));
    const Variables before{{"PATH", "/usr/bin:/bin"}, {"FOO", "mine"}, {"HOME", "/h"}};
    auto now = before;
    shelf.enter(now, "a");
    CHECK(now == Variables{{"PATH", shelf.bin("a") + ":/usr/bin:/bin"},
                           {"FOO", "a"},
                           {"NEW", "n"},
                           {"HOME", "/h"},
                           {"CONDA_PREFIX", shelf.path("a")},
                           {"CONDA_DEFAULT_ENV", "a"},
                           {"CONDA_SHLVL", "1"},
                           {"CONDA_PROMPT_MODIFIER", "(a) "},
                           {"__CONDA_SHLVL_0_FOO", "mine"},
                           {"__GPKG_VARS_1", "FOO:NEW"}});
    // What the environment says by now does not matter.
    REQUIRE(shelf.write("conda-meta/state", "{}", "a"));
    shelf.leave(now);
    CHECK(now == before);
    CHECK(shelf.leave(now).variables.empty());
}

TEST_CASE("environments nest, replacing or stacking", "[env]") {
    Shelf shelf;
    REQUIRE(shelf.write("conda-meta/state", R"({"env_vars":{"FOO":"a","ONLY_A":"1"}})", "a"));
    REQUIRE(shelf.write("conda-meta/state", R"({"env_vars":{"FOO":"b","ONLY_B":"1"}})", "b"));
    for (const auto* env : {"a", "b"}) {
        REQUIRE(shelf.write("etc/conda/activate.d/x.sh", "", env));
        REQUIRE(shelf.write("etc/conda/deactivate.d/x.sh", "", env));
    }
    const Variables before{{"PATH", "/bin"}, {"FOO", "mine"}, {"ONLY_B", ""}};
    for (const bool stack : {false, true}) {
        CAPTURE(stack);
        auto now = before;
        shelf.enter(now, "a");
        const auto in_a = now;
        const auto entering = shelf.enter(now, "b", stack);
        CHECK(now["PATH"] == (stack ? fmt::format("{}:{}:/bin", shelf.bin("b"), shelf.bin("a"))
                                    : fmt::format("{}:/bin", shelf.bin("b"))));
        CHECK(now["CONDA_SHLVL"] == "2");
        CHECK(now["CONDA_PREFIX_1"] == shelf.path("a").native());
        CHECK(now["FOO"] == "b");
        CHECK(now.contains("ONLY_A") == stack);
        CHECK(entering.deactivate_scripts.size() == (stack ? 0 : 1));
        const auto leaving = shelf.leave(now);
        CHECK(now == in_a);
        CHECK(leaving.deactivate_scripts.size() == 1);
        CHECK(leaving.activate_scripts.size() == (stack ? 0 : 1));
        shelf.leave(now);
        CHECK(now == before);
    }
}

TEST_CASE("entering the active environment again refreshes it; the previous one steps back",
          "[env]") {
    Shelf shelf;
    REQUIRE(shelf.write("conda-meta/state", R"({"env_vars":{"X":"1","OLD":"1"}})", "a"));
    const Variables before{{"PATH", "/bin"}, {"OLD", "mine"}, {"FRESH", "mine"}};
    auto now = before;
    shelf.enter(now, "a");
    REQUIRE(shelf.write("conda-meta/state", R"({"env_vars":{"X":"2","FRESH":"2"}})", "a"));
    shelf.enter(now, "a");
    CHECK(now["X"] == "2");
    CHECK(now["OLD"] == "mine");
    CHECK(now["FRESH"] == "2");
    CHECK(now["CONDA_SHLVL"] == "1");
    CHECK(now["PATH"] == shelf.bin("a") + ":/bin");
    shelf.enter(now, "b");
    shelf.enter(now, "a");
    CHECK(now["CONDA_SHLVL"] == "1");
    shelf.leave(now);
    CHECK(now == before);
}

TEST_CASE("what conda keeps of numbers and truths is set as conda sets it", "[env]") {
    Shelf shelf;
    REQUIRE(
        shelf.write("conda-meta/state", R"({"env_vars":{"N":8,"R":0.5,"T":true,"F":false}})", "a"));
    const auto variables = environment_variables(shelf.path("a")).value();
    CHECK(variables.warnings.empty());
    CHECK(variables.values == std::map<std::string, std::optional<std::string>>{
                                  {"F", "False"}, {"N", "8"}, {"R", "0.5"}, {"T", "True"}});
}

TEST_CASE("variables come in code point order, state last, and bad ones are told", "[env]") {
    Shelf shelf;
    REQUIRE(shelf.write("etc/conda/env_vars.d/10.json", R"({"A":"1","B":"1"})", "a"));
    REQUIRE(shelf.write("etc/conda/env_vars.d/9.json", R"({"A":"2","bad-name":"x","N":[3]})", "a"));
    REQUIRE(shelf.write("etc/conda/env_vars.d/broken.json", "{", "a"));
    REQUIRE(shelf.write("etc/conda/env_vars.d/ignored.txt", R"({"A":"4"})", "a"));
    REQUIRE(shelf.write(
        "conda-meta/state", R"({"env_vars":{"B":"3","PATH":"/evil","GONE":"***unset***"}})", "a"));
    const auto variables = environment_variables(shelf.path("a")).value();
    CHECK(variables.values == std::map<std::string, std::optional<std::string>>{
                                  {"A", "2"}, {"B", "3"}, {"GONE", std::nullopt}});
    REQUIRE(variables.warnings.size() == 4);
    const auto folder = (shelf.path("a") / "etc/conda/env_vars.d").native();
    CHECK(variables.warnings[0] ==
          folder + "/9.json: variable \"bad-name\" ignored: not a valid variable name");
    CHECK(variables.warnings[1] ==
          folder + "/9.json: variable \"N\" ignored: the value is not a string");
    CHECK_THAT(variables.warnings[2], ContainsSubstring("broken.json: not valid JSON"));
    CHECK_THAT(variables.warnings[3],
               ContainsSubstring("\"PATH\" ignored: reserved: activation sets this variable"));

    Variables now{{"PATH", "/bin"}, {"GONE", "here"}};
    shelf.enter(now, "a");
    CHECK_FALSE(now.contains("GONE"));
    shelf.leave(now);
    CHECK(now == Variables{{"PATH", "/bin"}, {"GONE", "here"}});
}

TEST_CASE("scripts of the shell in use, in order and back", "[env]") {
    Shelf shelf;
    for (const auto* name :
         {"a.sh", "b.sh", "B.sh", "c.fish", "d.bat", "e.sh.orig", "f.csh", "g.ps1"}) {
        REQUIRE(shelf.write(fmt::format("etc/conda/activate.d/{}", name), "", "a"));
        REQUIRE(shelf.write(fmt::format("etc/conda/deactivate.d/{}", name), "", "a"));
    }
    Variables now{{"PATH", "/bin"}};
    const auto entering = shelf.enter(now, "a");
    CHECK(names(entering.activate_scripts) == std::vector<std::string>{"B.sh", "a.sh", "b.sh"});
    CHECK(names(activate(shelf.path("b"), lookup(now), Shell::Fish, shelf.options())
                    .value()
                    .deactivate_scripts) == std::vector<std::string>{"c.fish"});
    const auto of = [&](Shell shell) {
        return names(deactivate(lookup(now), shell, shelf.options()).value().deactivate_scripts);
    };
    CHECK(of(Shell::Tcsh) == std::vector<std::string>{"f.csh"});
    CHECK(of(Shell::PowerShell) == std::vector<std::string>{"g.ps1"});
    CHECK(names(shelf.leave(now).deactivate_scripts) ==
          std::vector<std::string>{"b.sh", "a.sh", "B.sh"});
}

TEST_CASE("what a broken shell says of itself is no reason to fail", "[env]") {
    Shelf shelf;
    for (const auto* level : {"x", "-3", "", "99999999999"}) {
        Variables now{{"PATH", "/bin"}, {"CONDA_SHLVL", level}, {"CONDA_PREFIX", "/gone"}};
        shelf.enter(now, "a");
        CHECK(now["CONDA_SHLVL"] == "1");
    }
    Variables gone{{"PATH", "/gone/bin:/bin"},
                   {"CONDA_SHLVL", "2"},
                   {"CONDA_PREFIX", "/gone"},
                   {"CONDA_PREFIX_1", "/also-gone"}};
    shelf.leave(gone);
    CHECK(gone["PATH"] == "/also-gone/bin:/bin");
    shelf.leave(gone);
    CHECK(gone == Variables{{"PATH", "/bin"}});

    Variables no_path;
    shelf.enter(no_path, "a");
    CHECK(no_path["PATH"] == shelf.bin("a"));
    shelf.leave(no_path);
    CHECK(no_path.empty());

    const auto none = activate("/nowhere", lookup(no_path), Shell::Bash, shelf.options());
    CHECK(none.error().kind == ErrorKind::NoEnvironment);
}

TEST_CASE("a prompt never runs what an environment is called", "[env]") {
    Shelf shelf;
    const std::string name = "x$(date)`y`";
    REQUIRE(shelf.write("conda-meta/history", "", name));
    Variables now{{"PATH", "/bin"}};
    shelf.enter(now, name);
    CHECK(now["CONDA_DEFAULT_ENV"] == name);
    CHECK(now["CONDA_PROMPT_MODIFIER"] == "(x?(date)?y?) ");
}

TEST_CASE("running a command takes a shell only where scripts want one", "[env]") {
    Shelf shelf;
    const Variables outside{{"PATH", "/bin"}};
    const std::vector<std::string> command{"python", "-c", "x"};
    const auto plain =
        run_environment(shelf.path("a"), lookup(outside), command, shelf.options()).value();
    CHECK(plain.command == command);
    auto now = outside;
    for (const auto& [name, value] : plain.variables) now[name] = value.value_or("");
    CHECK(now["PATH"] == shelf.bin("a") + ":/bin");
    CHECK(now["CONDA_PREFIX"] == shelf.path("a").native());

    const auto inside = run_environment(shelf.path("a"), lookup(now), command, shelf.options());
    CHECK(inside->command == command);
    CHECK(inside->variables.size() == 1);

    REQUIRE(shelf.write("etc/conda/activate.d/x.sh", "export Y=1; echo noise\n", "a"));
    const auto scripted =
        run_environment(shelf.path("a"), lookup(outside), command, shelf.options()).value();
    CHECK(scripted.variables.empty());
    REQUIRE(scripted.command.size() == 7);
    CHECK(scripted.command[4] == "python");
    CHECK_THAT(scripted.command[2],
               ContainsSubstring("activate.d/x.sh' >&2\ncd -- \"$__gpkg_folder\"\n"));
    CHECK_THAT(scripted.command[2], ContainsSubstring("\ntrap - EXIT\ncommand -v \"$1\""));
}

TEST_CASE("names that a shell keeps for itself are refused", "[env]") {
    // Read-only in bash, in zsh what changes the user of the process, in fish what it reports.
    for (const auto* name : {"UID", "EUID", "PPID", "SHELLOPTS", "status", "_", "PWD"})
        CHECK_THAT(check_variable_name(name).error().message,
                   ContainsSubstring("reserved: shells set this variable"));
    CHECK(check_variable_name("USER"));
    CHECK(check_variable_name("status_2"));
}

TEST_CASE("an empty PATH and none are two things", "[env]") {
    Shelf shelf;
    for (const auto& before : {Variables{{"PATH", ""}}, Variables{}}) {
        Variables now = before;
        shelf.enter(now, "a");
        CHECK(now["PATH"] == (before.empty() ? shelf.bin("a") : shelf.bin("a") + ":"));
        shelf.leave(now);
        CHECK(now == before);
    }
}

TEST_CASE("whatever happens in between, leaving all gives back what was there", "[env]") {
    // The oracle is the start. Environments set, empty and unset the same few variables, and come
    // to set others while they or others are active.
    for (unsigned seed = 0; seed < 150; ++seed) {
        std::mt19937 random(seed);
        const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
        Shelf shelf;
        const auto change = [&](const std::string& env) {
            std::string members;
            for (const auto* name : {"V1", "V2", "V3"}) {
                const auto kind = draw(4);
                if (kind == 0) continue;
                const auto value = kind == 1 ? "" : kind == 2 ? "***unset***" : env + name;
                members += fmt::format("{}\"{}\":\"{}\"", members.empty() ? "" : ",", name, value);
            }
            REQUIRE(shelf.write("etc/conda/env_vars.d/x.json", "{" + members + "}", env));
        };
        change("a");
        change("b");
        Variables start{{"PATH", "/usr/bin:/bin"}};
        for (const auto* name : {"V1", "V2", "V3", "CONDA_SHLVL", "CONDA_PROMPT_MODIFIER"}) {
            if (draw(2) == 0) start[name] = draw(2) == 0 ? "" : "0";
        }
        auto now = start;
        std::string story = fmt::format("seed {}:", seed);
        for (unsigned step = 0; step < 12; ++step) {
            const std::string env = draw(2) == 0 ? "a" : "b";
            switch (draw(5)) {
            case 0: change(env), story += " change " + env; break;
            case 1: shelf.leave(now), story += " leave"; break;
            case 2:
                carry_out(now, reactivate(lookup(now), Shell::Bash, shelf.options()).value());
                story += " again";
                break;
            case 3: shelf.enter(now, env, true), story += " stack " + env; break;
            default: shelf.enter(now, env), story += " enter " + env;
            }
        }
        for (int level = 0; level < 14; ++level) shelf.leave(now);
        CAPTURE(story);
        CHECK(now == start);
    }
}

}  // namespace activation_test
