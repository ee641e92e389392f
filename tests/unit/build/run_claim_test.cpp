#include "libcore/build/run_claim.hpp"

#include "libcore/build/builder.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/build/build_fixture.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace run_claim_test {
namespace {
std::atomic<int> flock_fails_with = 0;
}  // namespace

/// In this program it stands in front of the C library's: few machines have a file system that
/// cannot lock.
extern "C" int flock(int descriptor, int operation) noexcept {
    if (flock_fails_with == 0) return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
    errno = flock_fails_with;
    return -1;
}

namespace fs = gpkg::fs;
using gpkg::RunClaim;
using gpkg::testing::BuildFixture, gpkg::testing::kHead;

namespace {

struct Folder {
    gpkg::TemporaryFolder folder = gpkg::TemporaryFolder::make(fs::temp_directory_path()).value();
    gpkg::Result<RunClaim> take(const std::set<std::string>& names,
                                const RunClaim::Waiting& waiting = {}) const {
        return RunClaim::take(folder.path(), names, waiting);
    }
    /// Does not wait; whom it would wait for.
    std::string holder(const std::set<std::string>& names) const {
        std::string whom;
        RunClaim::Waiting waiting;
        waiting.told_after = {};
        waiting.told = [&](const auto& text) { whom = text; };
        waiting.cancelled = [] { return true; };
        const auto claim = take(names, waiting);
        return claim ? "nobody" : whom;
    }
    std::size_t files() const {
        const fs::directory_iterator entries(folder.path() / "runs");
        return static_cast<std::size_t>(std::distance(fs::begin(entries), fs::end(entries)));
    }
};

}  // namespace

TEST_CASE("what a run builds is its own while it lasts", "[build]") {
    const Folder place;
    std::optional<RunClaim> first = place.take({"a-1-0", "b-1-0"}).value();
    CHECK(first->warning().empty());
    CHECK(place.holder({"c-1-0", "b-1-0"})
              .starts_with("process " + std::to_string(::getpid()) + " on "));
    CHECK(place.holder({"c-1-0", "b-1-0"}).ends_with(", which builds b-1-0"));
    CHECK(place.holder({"c-1-0"}) == "nobody");
    CHECK(place.holder({"a-1-"}) == "nobody");

    // Who waits is told once, and goes on when the first is done.
    std::atomic<int> told = 0;
    std::atomic<bool> has_it = false;
    std::thread second([&] {
        RunClaim::Waiting waiting;
        waiting.told_after = std::chrono::milliseconds(60);
        waiting.told = [&](const auto&) { ++told; };
        has_it = place.take({"a-1-0"}, waiting).has_value();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK_FALSE(has_it);
    first.reset();
    second.join();
    CHECK(has_it);
    CHECK(told == 1);
    CHECK(place.files() == 1);  // the door
}

TEST_CASE("who waits for a run can be stopped", "[build]") {
    const Folder place;
    const auto first = place.take({"a"});
    REQUIRE(first);
    RunClaim::Waiting waiting;
    waiting.cancelled = [] { return true; };
    CHECK(place.take({"a"}, waiting).error().kind == gpkg::ErrorKind::Interrupted);
}

TEST_CASE("the claims of killed runs count no more", "[build]") {
    const Folder place;
    const pid_t child = ::fork();
    if (child == 0) {
        const auto claim = place.take({"a"});
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(place.files() == 2);
    CHECK(place.holder({"a"}) == "nobody");
    CHECK(place.files() == 1);
}

TEST_CASE("where the file system cannot lock, building goes on and says so", "[build]") {
    const Folder place;
    flock_fails_with = GENERATE(ENOLCK, ENOSYS, EOPNOTSUPP);
    const auto claim = place.take({"a"});
    const std::string why = std::strerror(flock_fails_with);
    flock_fails_with = 0;
    REQUIRE(claim);
    CHECK(claim->warning() == place.folder.path().native() +
                                  ": the file system does not support locks (" + why +
                                  "); do not build the same packages twice at the same time");
}

TEST_CASE("a run that comes second waits, and finds what was built", "[build]") {
    const BuildFixture place;
    place.write("r/recipe.yaml", kHead + "build: {script: echo hello}\n");
    const auto build = [&](const gpkg::BuildOptions& options) {
        return gpkg::build_all({place.at("r/recipe.yaml")}, options);
    };
    std::optional<gpkg::BuildSummary> first = build(place.options).value();
    const auto log = gpkg::read_file(first->packages.front().log).value();
    CHECK_THAT(log, ContainsSubstring("hello"));

    auto options = place.options;
    std::atomic<bool> waits = false;
    std::string whom;
    options.report = [&](const gpkg::BuildEvent& event) {
        if (event.kind != gpkg::BuildEvent::Kind::Waiting) return;
        whom = event.what;
        waits = true;
    };
    std::optional<gpkg::BuildSummary> second;
    std::thread other([&] { second = build(options).value(); });
    while (!waits) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    first.reset();
    other.join();
    CHECK(whom.ends_with(", which builds a-1-hb0f4dca_0"));
    REQUIRE(second->packages.size() == 1);
    CHECK(second->packages.front().reused);
    CHECK(gpkg::read_file(second->packages.front().log).value() == log);
}

}  // namespace run_claim_test
