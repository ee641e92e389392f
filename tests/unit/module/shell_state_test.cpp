#include "libcore/module/shell_state_internal.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace shell_state_test {

TEST_CASE("what scripts change of a shell's state, in words", "[module]") {
    struct Case {
        std::string before;
        std::string after;
        std::vector<std::string> changes;
    };
    const std::vector<Case> cases{
        {"umask 0022\n", "umask 0022\n", {}},
        {"umask 0022\n", "umask 0027\n", {"umask"}},
        {"", "declare -f tool\ndeclare -f _helper\n", {"the shell function tool"}},
        {"", "declare -fx _for_others\n", {"the shell function _for_others"}},
        {"", "alias ll='ls -l'\n", {"the alias ll"}},
        {"folder /a\n", "folder /b\n", {"a change of the current folder"}},
        {"set +o vi\nshopt -u dotglob\n",
         "set -o vi\nshopt -s dotglob\n",
         {"set -o vi", "shopt -s dotglob"}},
        {"", "complete -o default -F _tool tool\n", {"the completion of tool"}},
        {"", "trap -- 'echo '\\''x'\\'' y' EXIT\n", {"the trap on EXIT"}},
        {"", "trap -- 'echo\necho' EXIT\n", {"a trap"}},
        {"declare -x HOME=\"/a\"\n",
         "declare -x HOME=\"/b\"\n",
         {"the variable HOME: shells use it themselves"}},
        {"declare -x HOME=\"/a\"\n", "", {"the variable HOME: shells use it themselves"}},
        // The soft limit becomes what the hard one was.
        {"stack size                  (kbytes, -s) 8192\n"
         "stack size                  (kbytes, -s) unlimited\n",
         "stack size                  (kbytes, -s) unlimited\n"
         "stack size                  (kbytes, -s) unlimited\n",
         {"ulimit -s"}},
        // Both of them.
        {"open files                          (-n) 1024\nopen files                          (-n) "
         "9\n",
         "open files                          (-n) 60\nopen files                          (-n) "
         "60\n",
         {"ulimit -n"}},
    };
    for (const auto& one : cases) {
        CAPTURE(one.before, one.after);
        CHECK(changes_of_state(one.before, one.after) == one.changes);
    }
}

}  // namespace shell_state_test
