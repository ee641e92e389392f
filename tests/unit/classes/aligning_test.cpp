#include "libcore/classes/aligning.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <random>

using namespace gpkg;

namespace aligning_test {
namespace {

/// What a class can have as a whole, by name: versions, "4" or "4 rocm6" with a build.
using World = std::map<std::string, std::string>;

PackageRecord record_of(const std::string& name, const std::string& version) {
    PackageRecord record;
    record.name = name;
    const auto blank = std::min(version.find(' '), version.size());
    record.version = version.substr(0, blank);
    record.build = blank == version.size() ? "0" : version.substr(blank + 1);
    record.fn = fmt::format("{}-{}-{}.conda", name, record.version, record.build);
    record.url = "https://example.com/linux-64/" + record.fn;
    return record;
}

Solution solution_of(const World& world) {
    Solution solution;
    for (const auto& [name, version] : world) {
        solution.settled.push_back(name);
        solution.records.push_back(record_of(name, version));
    }
    return solution;
}

/// A solver that knows all there is: of a machine's worlds, the best first, it takes the first that
/// the constraints allow.
struct Oracle {
    std::map<std::string, std::vector<World>> worlds;  ///< by machine

    Solve solve() const {
        return [this](const Problem& problem) -> Result<Outcome> {
            for (const auto& world : worlds.at(problem.machine)) {
                const auto& constraints = problem.request.constraints;
                const bool fits = std::ranges::all_of(constraints, [&](const auto& one) {
                    const auto found = world.find(one.spec.name);
                    return found == world.end() ||
                           one.spec.matches(record_of(found->first, found->second));
                });
                if (fits) return Outcome(solution_of(world));
            }
            return Outcome(Explanation{});
        };
    }
};

struct Aligned {
    std::vector<World> worlds;             ///< by class, in the order of their names
    std::vector<std::string> divergences;  ///< "a of x: why"
};

/// `asked` is asked for everywhere; `held` says what of which class is locked.
Aligned aligned(const Oracle& oracle,
                const std::string& asked,
                const std::map<std::string, std::set<std::string>>& held = {}) {
    std::vector<ClassProblem> classes;
    std::vector<Solution> answers;
    for (const auto& [machine, worlds] : oracle.worlds) {
        ClassProblem one{machine, "linux-64", {}};
        one.problem.machine = machine;
        if (machine == "amd")
            one.problem.virtual_packages.push_back(record_of("__amdgpu_arch", "9.4"));
        one.problem.request.specs = {MatchSpec::parse(asked).value()};
        answers.push_back(solution_of(worlds.front()));
        if (const auto names = held.find(machine); names != held.end()) {
            for (const auto& name : names->second)
                one.problem.request.installed.push_back(record_of(name, worlds.front().at(name)));
            hold_what_stayed(one, answers.back());
        }
        classes.push_back(std::move(one));
    }
    const auto divergences = align_versions(classes, answers, oracle.solve());
    REQUIRE(divergences);
    Aligned aligned;
    for (const auto& answer : answers) {
        auto& world = aligned.worlds.emplace_back();
        for (const auto& record : answer.records) world[record.name] = record.version;
    }
    for (const auto& [name, versions, of, reason] : *divergences)
        aligned.divergences.push_back(fmt::format("{} of {}: {}", name, of, reason));
    return aligned;
}

}  // namespace

TEST_CASE("classes meet at the highest version that all can have", "[classes]") {
    // y has no 3, and x no 2: neither is in the other's way down to 1.
    const Oracle oracle{
        {{"x", {{{"a", "3"}}, {{"a", "1.0"}}}}, {"y", {{{"a", "2"}}, {{"a", "1"}}, {{"a", "0"}}}}}};
    const auto [worlds, divergences] = aligned(oracle, "a");
    CHECK(worlds == std::vector<World>{{{"a", "1.0"}}, {{"a", "1"}}});  // one version (CEP 33)
    CHECK(divergences.empty());
}

TEST_CASE("what was asked for gives up nothing for the rest", "[classes]") {
    const Oracle oracle{{{"x", {{{"a", "2"}, {"lib", "1"}}, {{"a", "1"}, {"lib", "2"}}}},
                         {"y", {{{"a", "2"}, {"lib", "2"}}, {{"a", "1"}, {"lib", "2"}}}}}};
    const auto [worlds, divergences] = aligned(oracle, "a");
    CHECK(worlds == std::vector<World>{{{"a", "2"}, {"lib", "1"}}, {{"a", "2"}, {"lib", "2"}}});
    REQUIRE(divergences.size() == 1);
    CHECK(divergences.front().starts_with("lib of y:"));
}

TEST_CASE("a class that lacks a package has no say in its version", "[classes]") {
    const Oracle oracle{{{"x", {{{"a", "1"}, {"gpu", "2"}}, {{"a", "1"}, {"gpu", "1"}}}},
                         {"y", {{{"a", "1"}}}},
                         {"z", {{{"a", "1"}, {"gpu", "1"}}}}}};
    const auto [worlds, divergences] = aligned(oracle, "a");
    CHECK(worlds[0].at("gpu") == "1");
    CHECK(worlds[1] == World{{"a", "1"}});
    CHECK(divergences.empty());
}

TEST_CASE("no class takes a version that it has for a GPU alone which it has not", "[classes]") {
    const Oracle oracle{{{"amd", {{{"a", "4 rocm6"}}, {{"a", "3 cpu"}}}},
                         {"cpu", {{{"a", "3 cpu"}}, {{"a", "4 rocm6"}}}}}};
    const auto [worlds, divergences] = aligned(oracle, "a");
    CHECK(worlds == std::vector<World>{{{"a", "4"}}, {{"a", "3"}}});
    REQUIRE(divergences.size() == 1);
    CHECK(divergences.front() == "a of amd: a would have no build for amd, with a 3");
}

TEST_CASE("what is locked stays, and others come to it", "[classes]") {
    const Oracle oracle{{{"new", {{{"a", "3"}, {"lib", "3"}}, {{"a", "1"}, {"lib", "3"}}}},
                         {"old", {{{"a", "1"}, {"lib", "1"}}, {{"a", "3"}, {"lib", "3"}}}}}};
    const auto [worlds, divergences] = aligned(oracle, "a", {{"old", {"a", "lib"}}});
    CHECK(worlds == std::vector<World>{{{"a", "1"}, {"lib", "3"}}, {{"a", "1"}, {"lib", "1"}}});
    // Told is why the new one cannot have what is locked, not that it is locked.
    REQUIRE(divergences.size() == 1);
    CHECK(divergences.front().starts_with("lib of new:"));

    // Where the new one has only older versions, the lock is what is in the way.
    const Oracle older{{{"new", {{{"a", "0"}}}}, {"old", {{{"a", "1"}}, {{"a", "0"}}}}}};
    const auto apart = aligned(older, "a", {{"old", {"a"}}});
    CHECK(apart.worlds == std::vector<World>{{{"a", "0"}}, {{"a", "1"}}});
    REQUIRE(apart.divergences.size() == 1);
    CHECK(apart.divergences.front().starts_with("a of new:"));
}

TEST_CASE(
    "random classes: what is asked for has the highest common version, and what is locked its own",
    "[classes]") {
    std::mt19937 random(26);
    const auto pick = [&](int most) { return std::uniform_int_distribution<>(0, most)(random); };
    std::size_t common = 0;
    const auto trials = static_cast<std::size_t>(2000 * tests::test_effort());
    for (std::size_t trial = 0; trial < trials; ++trial) {
        Oracle oracle;
        for (const auto* machine : {"x", "y", "z"}) {
            auto& worlds = oracle.worlds[machine];
            for (int i = pick(5); i >= 0; --i) {
                World world{{"a", std::to_string(pick(4))}};
                for (const auto* name : {"b", "c"}) {
                    if (pick(3) > 0) world[name] = std::to_string(pick(4));
                }
                worlds.push_back(std::move(world));
            }
            // The best first, by what is settled first.
            std::ranges::sort(worlds, std::ranges::greater());
        }
        std::map<std::string, std::set<std::string>> held;
        if (pick(1) == 0) {
            for (const auto& [name, version] : oracle.worlds.at("y").front())
                held["y"].insert(name);
        }
        const auto [worlds, divergences] = aligned(oracle, "a", held);
        INFO("trial " << trial);
        std::set<std::string> shared;
        for (const std::string version : {"0", "1", "2", "3", "4"}) {
            const bool is_common = std::ranges::all_of(oracle.worlds, [&](const auto& entry) {
                if (entry.first == "y" && held.contains("y"))
                    return entry.second.front().at("a") == version;
                return std::ranges::any_of(
                    entry.second, [&](const auto& world) { return world.at("a") == version; });
            });
            if (is_common) shared.insert(version);
        }
        std::size_t place = 0;
        for (const auto& [machine, possible] : oracle.worlds) {
            const auto& world = worlds[place++];
            CHECK(std::ranges::find(possible, world) != possible.end());
            if (held.contains(machine)) CHECK(world == possible.front());
            if (!shared.empty()) CHECK(world.at("a") == *shared.rbegin());
        }
        common += shared.empty() ? 0 : 1;
        // What differs is told, and nothing else.
        std::set<std::string> differing;
        for (const auto* name : {"a", "b", "c"}) {
            std::set<std::string> versions;
            for (const auto& world : worlds) {
                if (const auto found = world.find(name); found != world.end())
                    versions.insert(found->second);
            }
            if (versions.size() > 1) differing.insert(name);
        }
        std::set<std::string> told;
        for (const auto& text : divergences) told.insert(text.substr(0, 1));
        CHECK(told == differing);
    }
    CHECK(common >= trials / 10);
}

}  // namespace aligning_test
