#include "libcore/fs/turn.hpp"

#include "libcore/fs/file.hpp"
#include "tests/support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

using namespace gpkg;
using namespace std::chrono_literals;

TEST_CASE("of two who change files of a folder the second waits", "[fs]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    auto first = wait_for_turn(folder.path());
    REQUIRE(first);
    REQUIRE(*first);
    CHECK_FALSE(wait_for_turn(folder.path(), {}, 20ms));
    CHECK_FALSE(wait_for_turn(folder.path(), [] { return true; }));
    first.reset();
    CHECK(wait_for_turn(folder.path(), {}, 0ms));
}

TEST_CASE("a turn goes with the process that has it", "[fs]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const pid_t child = ::fork();
    if (child == 0) {
        const auto turn = wait_for_turn(folder.path());
        ::_exit(turn ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WEXITSTATUS(status) == 0);
    CHECK(wait_for_turn(folder.path(), {}, 0ms));
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("where there is no folder work goes on without a turn", "[fs]") {
    const auto turn = wait_for_turn("/nowhere/at/all");
    REQUIRE(turn);
    CHECK_FALSE(*turn);
}
