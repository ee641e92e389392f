// Requests that are hard to decide: packages of which no two can have the same version, and which
// are one more than there are versions. Whatever solves them tries most of what is possible.

#include "libcore/index/repodata.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>

using namespace gpkg;

namespace limits_test {
namespace {

/// `names` packages of `versions` versions. And if so, a package "all": version 2 needs each of
/// them, version 1 needs nothing.
Problem pigeonholes(int names, int versions, bool has_all = false) {
    std::vector<std::string> records;
    Problem problem;
    for (int name = 0; name < names; ++name) {
        for (int version = 1; version <= versions; ++version) {
            std::vector<std::string> others;
            for (int other = 0; other < names; ++other)
                if (other != name) others.push_back(fmt::format(R"("p{} !={}")", other, version));
            records.push_back(
                fmt::format(R"("p{0}-{1}-0.conda":{{"name":"p{0}","version":"{1}","build":"0",)"
                            R"("build_number":0,"depends":[{2}]}})",
                            name,
                            version,
                            fmt::join(others, ",")));
        }
        problem.request.specs.push_back(MatchSpec::parse(fmt::format("p{}", name)).value());
    }
    if (has_all) {
        std::vector<std::string> all;
        for (int name = 0; name < names; ++name) all.push_back(fmt::format(R"("p{}")", name));
        constexpr auto kRecord =
            R"("all-{0}-0.conda":{{"name":"all","version":"{0}","build":"0","build_number":0,)"
            R"("depends":[{1}]}})";
        records.push_back(fmt::format(kRecord, 1, ""));
        records.push_back(fmt::format(kRecord, 2, fmt::join(all, ",")));
    }
    problem.request.named = problem.request.specs.size();
    auto index =
        read_repodata(fmt::format(R"({{"packages.conda":{{{}}}}})", fmt::join(records, ",")),
                      {"https://host/c", "noarch", "https://host/c/noarch/repodata.json"});
    problem.indexes = {std::make_shared<const ChannelIndex>(*std::move(index))};
    return problem;
}

}  // namespace

TEST_CASE("a request that is too hard is given up, and says so", "[solver]") {
    auto problem = pigeonholes(12, 11);
    problem.limits.conflicts = 2'000;
    const auto outcome = solver::solve(problem);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::Unsupported);
    CHECK(outcome.error().message.find("limit of 2000 conflicts") != std::string::npos);
    CHECK(outcome.error().hint.find("solve_limit 8000") != std::string::npos);
}

TEST_CASE("a limit that suffices changes nothing", "[solver]") {
    auto problem = pigeonholes(6, 6);
    const auto text = [&](std::uint64_t limit) {
        problem.limits.conflicts = limit;
        std::string lines;
        const auto outcome = solver::solve(problem);
        REQUIRE(outcome);
        for (const auto& record : std::get<Solution>(*outcome).records) lines += record.fn + "\n";
        return lines;
    };
    CHECK(text(1'000'000) == text(50'000));
}

TEST_CASE("where the search for a better answer is given up, the answer says so", "[solver]") {
    auto problem = pigeonholes(12, 11, true);
    problem.request.specs = {MatchSpec::parse("all").value()};
    problem.limits.conflicts = 2'000;
    const auto outcome = solver::solve(problem);
    REQUIRE(outcome);
    const auto& solution = std::get<Solution>(*outcome);
    REQUIRE(solution.records.size() == 1);
    CHECK(solution.records.front().version == "1");
    REQUIRE_FALSE(solution.notes.empty());
    CHECK(solution.notes.back().text() ==
          "newer versions may be possible: the solver reached its limit (solve_limit: 2000)");
}

TEST_CASE("the time for an explanation ends it", "[solver]") {
    auto problem = pigeonholes(8, 7);
    problem.limits.explanation = std::chrono::milliseconds(1);
    const auto outcome = solver::solve(problem);
    REQUIRE(outcome);
    const auto& explanation = std::get<Explanation>(*outcome);
    REQUIRE_FALSE(explanation.clashes.empty());
    CHECK_FALSE(explanation.clashes.front().is_minimal);
    CHECK(explanation.has_untried_fixes);
    CHECK(explanation.tree().find("(not minimal") != std::string::npos);
    CHECK(explanation.tree().find("no build of") == std::string::npos);  // which was not found out
}

TEST_CASE("a clash is found beside what is hard to exclude", "[solver]") {
    // Twelve packages for eleven versions have no solution either, which is not found out.
    auto problem = pigeonholes(12, 11);
    problem.request.specs = {MatchSpec::parse("p0=1").value(), MatchSpec::parse("p1=1").value()};
    problem.wants_fixes = false;
    const auto outcome = solver::solve(problem);
    REQUIRE(outcome);
    const auto& explanation = std::get<Explanation>(*outcome);
    REQUIRE(explanation.clashes.size() == 1);
    CHECK(explanation.clashes.front().is_minimal);
    CHECK(explanation.tree() ==
          "p0=1 is requested\n"
          "\u2514\u2500 p0 1 0 needs p1 !=1\n"
          "p1=1 is requested\n"
          "\u2514\u2500 no p1 satisfies both !=1 and =1");
}

TEST_CASE("a stop ends a search within a moment", "[solver]") {
    auto problem = pigeonholes(14, 13);
    problem.limits.conflicts = 1'000'000'000;
    std::stop_source source;
    problem.stop = source.get_token();
    std::chrono::steady_clock::time_point stopped;
    std::jthread stopping([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stopped = std::chrono::steady_clock::now();
        source.request_stop();
    });
    const auto outcome = solver::solve(problem);
    const auto ended = std::chrono::steady_clock::now();
    stopping.join();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::Interrupted);
    CHECK(ended - stopped < std::chrono::seconds(1));
}

}  // namespace limits_test
