#include "libcore/fs/claim.hpp"

#include "libcore/fs/file.hpp"
#include "libcore/fs/process_identity.hpp"
#include "tests/support/catch.hpp"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gpkg;

namespace claim_test {
namespace {

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// A claim that a process made that is gone.
void leave_dead_claim(const fs::path& file) {
    const pid_t child = ::fork();
    if (child == 0) {
        const auto attempt = Claim::try_to_take(file);
        ::_exit(attempt.claim ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WEXITSTATUS(status) == 0);
    REQUIRE(fs::exists(file));
}

}  // namespace

TEST_CASE("a claim is one's until it is let go", "[fs]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto file = folder.path() / "claim";
    {
        const auto first = Claim::try_to_take(file);
        REQUIRE(first.claim);
        const auto text = read_file(file).value();
        CHECK(is_claim(text));
        CHECK_FALSE(is_claim_of_dead(text));
        CHECK_THAT(claim_holder(text),
                   ContainsSubstring(fmt::format("process {} on ", ::getpid())) &&
                       ContainsSubstring(", since 20") && ContainsSubstring(" UTC"));
        const auto second = Claim::try_to_take(file);
        CHECK_FALSE(second.claim);
        CHECK(second.error == 0);
        CHECK(files_in(folder.path()) == 1);
    }
    CHECK(files_in(folder.path()) == 0);
    CHECK(Claim::try_to_take(folder.path() / "nowhere/claim").error == ENOENT);
}

TEST_CASE("a claim moves with its folder, and is not taken from whoever has it then", "[fs]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::create_directory(folder.path() / "a");
    auto attempt = Claim::try_to_take(folder.path() / "a/claim");
    REQUIRE(attempt.claim);
    fs::rename(folder.path() / "a", folder.path() / "b");
    attempt.claim->moved_to(folder.path() / "b/claim");
    REQUIRE(write_file_atomically(folder.path() / "b/claim", "somebody else's"));
    attempt.claim.reset();
    CHECK(fs::exists(folder.path() / "b/claim"));
}

TEST_CASE("of the dead's claim one successor takes over", "[fs]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto file = folder.path() / "claim";
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<int> taken{0};
    for (int round = 0; round < 20; ++round) {
        leave_dead_claim(file);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) {
                    const auto attempt = Claim::try_to_take(file);
                    if (!attempt.claim) continue;
                    const int now = ++inside;
                    if (now > most) most = now;
                    ++taken;
                    std::this_thread::yield();
                    --inside;
                }
            });
        for (auto& thread : threads) thread.join();
    }
    CHECK(most == 1);
    CHECK(taken >= 20);
    CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("who died while taking over is succeeded as well", "[fs]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto file = folder.path() / "claim";
    leave_dead_claim(file);
    const auto text = read_file(file).value();
    const auto line = text.substr(text.find('\n') + 1);
    // "claim <world> <process> <start> <word> <time>"
    std::vector<std::string> words;
    for (std::size_t from = 0; from < line.size();) {
        const auto to = std::min(line.find_first_of(" \n", from), line.size());
        words.push_back(line.substr(from, to - from));
        from = to + 1;
    }
    leave_dead_claim(fmt::format("{}.after-{}", file.native(), words[4]));
    CHECK(Claim::try_to_take(file).claim);
    CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("of other machines and of numbers given again", "[fs]") {
    const auto claim = [](const std::string& world, pid_t process, std::uint64_t start) {
        return fmt::format(
            "process 1 on node9\nclaim {} {} {} 89abcdef 1790000000\n", world, process, start);
    };
    const auto here = process_world();
    CHECK_FALSE(is_claim_of_dead(claim("0123456789abcdef", 999999, 1)));
    CHECK_FALSE(is_claim_of_dead(claim(here, ::getpid(), process_start(::getpid()))));
    CHECK(is_claim_of_dead(claim(here, ::getpid(), process_start(::getpid()) + 1)));
    CHECK(is_claim_of_dead(claim(here, 99999999, 1)));
    CHECK_FALSE(is_claim_of_dead("process 1 on node9\n"));
    CHECK_FALSE(is_claim("process 1 on node9\nclaim too short\n"));
    CHECK(claim_holder("process 1 on node9\n") == "process 1 on node9");
    CHECK(claim_holder(claim(here, 1, 1)) == "process 1 on node9, since 2026-09-21 14:13:20 UTC");
    CHECK(claim_holder("").empty());
}

}  // namespace claim_test
