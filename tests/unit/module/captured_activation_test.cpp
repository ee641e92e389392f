#include "libcore/module/captured_activation.hpp"

#include "tests/support/catch.hpp"

#include <fstream>

using namespace gpkg;
using How = VariableEffect::How;

namespace captured_activation_test {
namespace {

/// An environment with one script of activate.d.
struct Environment {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();

    explicit Environment(const std::string& script) {
        fs::create_directories(folder.path() / "conda-meta");
        fs::create_directories(folder.path() / "etc/conda/activate.d");
        std::ofstream(folder.path() / "conda-meta/history");
        std::ofstream(folder.path() / "conda-meta/state")
            << R"({"env_vars": {"OF_STATE": "a b", "GONE": "***unset***"}})";
        if (!script.empty()) std::ofstream(folder.path() / "etc/conda/activate.d/a.sh") << script;
    }

    Result<CapturedActivation> capture() const {
        CaptureOptions options;
        options.name = "ml";
        options.time_limit = std::chrono::seconds(2);
        return capture_activation(folder.path(), options);
    }

    /// Effects beyond those that every environment has.
    std::vector<VariableEffect> effects() const {
        std::vector<VariableEffect> found;
        auto captured = capture();
        for (auto& effect : captured.value().effects) {
            if (!effect.name.starts_with("CONDA_") && effect.name != "OF_STATE" &&
                effect.name != "GONE")
                found.push_back(std::move(effect));
        }
        return found;
    }
};

}  // namespace

TEST_CASE("what activation does without scripts", "[module]") {
    const Environment environment("");
    const auto captured = environment.capture();
    REQUIRE(captured);
    CHECK(captured->left_out.empty());
    CHECK(captured->effects == std::vector<VariableEffect>{
                                   {"CONDA_DEFAULT_ENV", How::Set, "ml"},
                                   {"CONDA_PREFIX", How::Set, environment.folder.path().native()},
                                   {"CONDA_PROMPT_MODIFIER", How::Set, "(ml) "},
                                   {"CONDA_SHLVL", How::Set, "1"},
                                   {"GONE", How::Unset, ""},
                                   {"OF_STATE", How::Set, "a b"},
                               });
}

TEST_CASE("variables of an environment that are no module's", "[module]") {
    const Environment environment("");
    std::ofstream(environment.folder.path() / "conda-meta/state")
        << R"({"env_vars": {"LANG": "C", "LC_ALL": "C", "PS1": "$ ", "SHELL": "***unset***"}})";
    CHECK(environment.effects() == std::vector<VariableEffect>{{"LANG", How::Set, "C"}});
    CHECK(environment.capture().value().left_out ==
          std::vector<std::string>{"the variable PS1: shells use it themselves",
                                   "the variable SHELL: shells use it themselves",
                                   "the variable LC_ALL: module systems set it themselves"});
}

TEST_CASE("what scripts do to variables", "[module]") {
    // As conda-forge's compilers do it: what was there is kept in another variable.
    const Environment environment(R"sh(
export BACKUP_CC="$CC"; export CC=/x/cc
export FLAGS="-O2 -g${FLAGS:+ $FLAGS}"
if [ -z "${DATA_DIRS+x}" ]; then export DATA_DIRS="$CONDA_PREFIX/share"; fi
unset lower_case_thing OTHER_THING
export CACHE="$HOME/.cache"
LOCAL_THING=5
PS1_OF_MINE=5
export PATH="/opt/x/bin:$PATH"
export LANG=C LC_CTYPE=C.UTF-8 TERM="${TERM:-vt100}"
unset LC_NUMERIC
)sh");
    CHECK(environment.effects() ==
          std::vector<VariableEffect>{
              {"CACHE", How::Set, std::string(kUsersHome) + "/.cache"},
              {"CC", How::Set, "/x/cc"},
              {"DATA_DIRS", How::SetIfUnset, environment.folder.path().native() + "/share"},
              {"FLAGS", How::PrependWords, "-O2 -g"},
              {"LANG", How::Set, "C"},
              {"LC_CTYPE", How::Set, "C.UTF-8"},
              {"LC_NUMERIC", How::Unset, ""},
              {"OTHER_THING", How::Unset, ""},
              {"PATH", How::PrependPath, "/opt/x/bin"},
              {"TERM", How::SetIfUnset, "dumb"},  // what bash gives it
              {"lower_case_thing", How::Unset, ""},
          });
}

TEST_CASE("what a module cannot give is named", "[module]") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"tool() { :; }", "the shell function tool"},
        {"alias ll='ls -l'", "the alias ll"},
        {"cd /usr", "a change of the current folder"},
        {"export LD_LIBRARY_PATH=/x",
         "the variable LD_LIBRARY_PATH: it also affects programs outside the environment"},
        {"export ODD=${ODD#?}",
         "the variable ODD: its new value cannot be derived from the old one"},
        {"export HALF=$(( ${CPUS:-4} / 2 )); export CPUS",
         "the variable HALF: its new value cannot be derived from the old one"},
        {"if [ \"${CPUS:-4}\" -gt 2 ]; then export BIG=yes; fi",
         "the variable BIG: its new value cannot be derived from the old one"},
        {"export WHO=/scratch/$USER", "the variable WHO: its value contains the user's name"},
        {"export OLD=$PATH", "the variable OLD: its value contains the user's PATH"},
        {"export HERE=$PWD/x", "the variable HERE: its value contains the user's current folder"},
        {"export HERE=$(pwd -P)",
         "the variable HERE: its value contains the user's current folder"},
        {"export MINE=$SHELL", "the variable MINE: its value contains the user's shell"},
        {"export HOME=/opt", "the variable HOME: shells use it themselves"},
        {"PS1='$ '", "the variable PS1: shells use it themselves"},
        {"export NOTE=$LANG",
         "the variable NOTE: its new value cannot be derived from the old one"},
        {"_tool() { :; }; export -f _tool", "the shell function _tool"},
        {"export LC_ALL=C", "the variable LC_ALL: module systems set it themselves"},
        {"unset LC_ALL", "the variable LC_ALL: module systems set it themselves"},
        {"umask 0123", "umask"},
        {"complete -F _tool tool", "the completion of tool"},
        {"trap : USR1", "the trap on SIGUSR1"},
        {"set -o vi", "set -o vi"},
        {"set -e", "set -o errexit"},
        {"shopt -s globstar", "shopt -s globstar"},
        {"ulimit -n 60", "ulimit -n"},
    };
    for (const auto& [script, said] : cases) {
        CAPTURE(script);
        const auto captured = Environment(script).capture();
        REQUIRE(captured);
        CHECK(captured->left_out == std::vector<std::string>{said});
        CHECK(Environment(script).effects().empty());
    }
}

TEST_CASE("what is the writing user's own is not for all", "[module]") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"export CACHE=/tmp/krb5cc_$UID", "the variable CACHE: its value differs between users"},
        {"export CACHE=/tmp/$(id -u)/x", "the variable CACHE: its value differs between users"},
        {"export CACHE=/tmp/$(whoami)", "the variable CACHE: its value differs between users"},
        {"export PATH=/opt/$EUID/bin:$PATH", "the variable PATH: its value differs between users"},
    };
    for (const auto& [script, said] : cases) {
        CAPTURE(script);
        const Environment environment(script);
        CHECK(environment.capture().value().left_out == std::vector<std::string>{said});
        CHECK(environment.effects().empty());
    }
    // Where the system lets nobody be another user, what looks like this one is left out.
    for (const auto& script : {"export CACHE=/tmp/krb5cc_$UID", "export CACHE=/tmp/$(id -u)/x"}) {
        CAPTURE(script);
        const Environment environment(script);
        const auto unshare = environment.folder.path() / "bin/unshare";
        fs::create_directories(unshare.parent_path());
        std::ofstream(unshare) << "#!/bin/sh\nexit 1\n";
        fs::permissions(unshare, fs::perms::owner_all);
        CHECK(environment.capture().value().left_out ==
              std::vector<std::string>{"the variable CACHE: its value differs between users"});
    }
    const Environment number("export LEVEL=0 # the id, and not who runs it");
    CHECK(number.effects() == std::vector<VariableEffect>{{"LEVEL", How::Set, "0"}});
}

TEST_CASE("scripts that do not end, or end the shell, are errors that name them", "[module]") {
    const Environment endless("sleep 60");
    auto captured = endless.capture();
    REQUIRE_FALSE(captured);
    CHECK_THAT(captured.error().message,
               Catch::Matchers::EndsWith("a.sh: the activation script did not finish within 2 s"));
    captured = Environment("exit 3").capture();
    REQUIRE_FALSE(captured);
    CHECK_THAT(
        captured.error().message,
        Catch::Matchers::EndsWith("a.sh: the activation script exits the shell with status 3"));
}

}  // namespace captured_activation_test
