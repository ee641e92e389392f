#include "libcore/env/prefix_lock.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gpkg;
using namespace std::chrono_literals;

TEST_CASE("the second writer waits, then names the first", "[env]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto& prefix = root.path();
    CHECK_FALSE(PrefixLock::is_held(prefix));
    auto first = PrefixLock::acquire(prefix, {});
    REQUIRE(first);
    CHECK(first->warning().empty());
    CHECK(PrefixLock::is_held(prefix));
    const auto second = PrefixLock::acquire(prefix, {30ms});
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == ErrorKind::Conflict);
    CHECK(second.error().message == prefix.native() + ": in use by " + lock_holder(prefix));
    CHECK_THAT(lock_holder(prefix), ContainsSubstring("process " + std::to_string(::getpid())));

    std::thread later([&] {
        std::this_thread::sleep_for(50ms);
        first->release();
    });
    CHECK(PrefixLock::acquire(prefix, {10s}));
    later.join();
    CHECK(fs::is_empty(prefix / "conda-meta"));
}

TEST_CASE("a killed holder holds nothing", "[env]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path()).value();
    const pid_t child = ::fork();
    if (child == 0) {
        const auto lock = PrefixLock::acquire(root.path(), {});
        ::_exit(lock ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(fs::exists(root.path() / "conda-meta/.gpkg-lock"));
    CHECK(PrefixLock::acquire(root.path(), {}));
}

TEST_CASE("never two holders at once", "[env]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path()).value();
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 25; ++i) {
                auto lock = PrefixLock::acquire(root.path(), {60s});
                if (!lock) return;
                const int now = ++inside;
                if (now > most) most = now;
                std::this_thread::yield();
                --inside;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(most == 1);
}
