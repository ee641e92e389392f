#include "libcore/fs/process_identity.hpp"

#include "tests/support/catch.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpkg;

TEST_CASE("a process that nobody waited for is gone", "[fs]") {
    const auto child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    REQUIRE(child > 0);
    CHECK_FALSE(is_gone(child));
    CHECK_FALSE(is_gone(::getpid()));
    CHECK(process_start(child) >= process_start(::getpid()));
    REQUIRE(process_start(::getpid()) > 0);
    ::kill(child, SIGKILL);
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
    CHECK(is_gone(child));
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK(is_gone(child));
}
