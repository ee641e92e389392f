// An explanation is checked from its data alone: what its lines say is made a problem of its own,
// which has no solution, and has one without any one line. Fixes are solved as they are told.

#include "libcore/fs/file.hpp"
#include "libcore/yaml/node.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/corpus.hpp"
#include "tests/unit/solver/corpus_channel.hpp"
#include "tests/unit/solver/explained.hpp"
#include "tests/unit/solver/random_problems.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <map>

using namespace gpkg;
using namespace gpkg::tests;

namespace explanations_test {
namespace {

std::size_t lines_of(const Explanation& explanation) {
    const auto text = explanation.to_string();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

/// The same, asked of a search that knows nothing of the solver.
void check_minimal_exhaustively(const Problem& problem, const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        if (has_unsaid_build(problem, clash)) continue;
        const auto all = only_what_is_said(problem, clash.lines, kNothing);
        REQUIRE_FALSE(Exhaustive(all).allows({}));
        for (std::size_t i = 0; i < clash.lines.size(); ++i) {
            INFO("without: " << clash.lines[i].text());
            const auto part = only_what_is_said(problem, clash.lines, i);
            REQUIRE(Exhaustive(part).allows({}));
        }
    }
}

/// Whether something could be had of what is asked for: then something can be done.
bool is_part_possible(const Problem& problem) {
    const auto& specs = problem.request.specs;
    return specs.size() > 1 && std::any_of(specs.begin(), specs.end(), [&](const auto& spec) {
               auto part = problem;
               part.request.specs = {spec};
               return has_solution(part);
           });
}

void check_fixes_exhaustively(const Problem& problem, const Explanation& explanation) {
    for (const auto& fix : explanation.fixes) {
        const auto changed = with_changes(problem, fix.changes);
        REQUIRE(changed);
        REQUIRE(Exhaustive(*changed).allows({}));
    }
}

std::vector<std::string> list(const yaml::Node& node, std::string_view key) {
    const auto* found = node.find(key);
    return found == nullptr ? std::vector<std::string>{} : found->as_texts("texts").value();
}

void add_machine(const yaml::Node& asked, Problem& problem) {
    std::map<std::string, std::string> facts{
        {"unix", "0"}, {"linux", "6.1"}, {"glibc", "2.36"}, {"archspec", "1 zen4"}};
    if (const auto* machine = asked.find("machine")) {
        for (const auto& [name, value] : machine->entries()) facts[name] = value.text();
    }
    for (const auto& [name, value] : facts) {
        if (value == "none") continue;
        const auto space = value.find(' ');
        PackageRecord record;
        record.name = "__" + name;
        record.version = value.substr(0, space);
        record.build = space == std::string::npos ? "0" : value.substr(space + 1);
        problem.virtual_packages.push_back(std::move(record));
    }
}

Problem problem_of(const fs::path& root, const yaml::Node& asked) {
    Problem problem;
    auto channels = list(asked, "channels");
    if (channels.empty()) channels = {"conda-forge"};
    for (const auto& name : channels) {
        const auto indexes = corpus_channel(root, name);
        problem.indexes.insert(problem.indexes.end(), indexes.begin(), indexes.end());
    }
    add_machine(asked, problem);
    for (const auto& text : list(asked, "request"))
        problem.request.specs.push_back(MatchSpec::parse(text).value());
    for (const auto& text : list(asked, "pins"))
        problem.request.constraints.push_back({MatchSpec::parse(text).value()});
    if (const auto* cutoff = asked.find("exclude_newer"))
        problem.exclude_newer = cutoff->as_int("a time").value();
    return problem;
}

using Seconds = std::chrono::duration<double>;

/// The fastest of a few: what else the machine does only adds.
Seconds time_of(const Problem& problem) {
    auto best = Seconds::max();
    for (int i = 0; i < 3; ++i) {
        const auto start = std::chrono::steady_clock::now();
        REQUIRE(solver::solve(problem));
        best = std::min(best, Seconds(std::chrono::steady_clock::now() - start));
    }
    return best;
}

}  // namespace

TEST_CASE("explanations of random problems are minimal, and their fixes work", "[solver]") {
    const auto count = problem_count();
    std::uint32_t explained = 0;
    std::uint32_t fixed = 0;
    std::uint32_t branching = 0;
    for (std::uint32_t seed = 0; seed < count; ++seed) {
        Dice dice(seed);
        const auto problem = random_problem(dice);
        const auto outcome = solver::solve(problem);
        REQUIRE(outcome);
        const auto* explanation = std::get_if<Explanation>(&*outcome);
        if (explanation == nullptr) continue;
        INFO("seed " << seed << "\n" << describe(problem) << explanation->to_string());
        check_minimal(problem, *explanation);
        check_minimal_exhaustively(problem, *explanation);
        check_every_wish_clashes(problem, *explanation);
        check_fixes(problem, *explanation);
        check_fixes_exhaustively(problem, *explanation);
        if (problem.request.implied == 0 && is_part_possible(problem))
            REQUIRE_FALSE(explanation->fixes.empty());
        ++explained;
        if (!explanation->fixes.empty()) ++fixed;
        if (explanation->clashes.front().lines.size() > 5) ++branching;
    }
    // Clashes that are all short, or that nothing helps, would prove little. A few problems tell
    // nothing of that.
    if (count < 1000) return;
    CHECK(explained > count / 5);
    CHECK(fixed > explained / 2);
    CHECK(branching > explained / 20);
}

TEST_CASE("neither answers nor explanations depend on the order of records", "[solver]") {
    for (std::uint32_t seed = 0; seed < problem_count() / 4; ++seed) {
        Dice dice(seed);
        const auto problem = random_problem(dice);
        const auto one = solver::solve(problem);
        const auto two = solver::solve(in_reverse(problem));
        REQUIRE(one);
        REQUIRE(two);
        INFO("seed " << seed << "\n" << describe(problem));
        if (const auto* explanation = std::get_if<Explanation>(&*one)) {
            REQUIRE(std::get<Explanation>(*two).to_string() == explanation->to_string());
            continue;
        }
        REQUIRE(std::get<Solution>(*two).records == std::get<Solution>(*one).records);
        REQUIRE(std::get<Solution>(*two).settled == std::get<Solution>(*one).settled);
    }
}

namespace {

using Visit = std::function<void(const Problem& problem, const Explanation& explanation)>;

/// Every `step`th of the real requests, solved; their number.
std::size_t each_real_request(std::size_t step, const Visit& visit) {
    const auto root = corpus();
    if (!root) {
        WARN("GPKG_TEST_CORPUS is not set: no real requests are tried");
        return 0;
    }
    const auto file = fs::path(GPKG_FIXTURES) / "explanations" / "requests.yaml";
    const auto document = yaml::Node::parse(read_file(file).value(), file.filename().native());
    REQUIRE(document);
    const auto& entries = document->entries();
    for (std::size_t i = 0; i < entries.size(); i += step) {
        const auto problem = problem_of(*root, entries[i].second);
        const auto outcome = solver::solve(problem);
        REQUIRE(outcome);
        INFO(entries[i].first);
        const auto* explanation = std::get_if<Explanation>(&*outcome);
        REQUIRE(explanation != nullptr);
        INFO(explanation->to_string());
        visit(problem, *explanation);
    }
    return entries.size();
}

}  // namespace

bool are_all_unknown(const Problem& problem) {
    return std::ranges::all_of(problem.request.specs, [&](const MatchSpec& spec) {
        return std::ranges::none_of(problem.indexes,
                                    [&](const auto& index) { return index->has(spec.name); });
    });
}

TEST_CASE("real requests without a solution", "[solver][corpus]") {
    const auto step = static_cast<std::size_t>(std::max(1.0, 1 / test_effort()));
    const auto all = each_real_request(step, [](const auto& problem, const auto& explanation) {
        // With the first line and the heading of the fixes, 15.
        CHECK(lines_of(explanation) <= 13);
        // Another package is no fix for one that no channel has.
        CHECK(explanation.fixes.empty() == are_all_unknown(problem));
        check_minimal(problem, explanation);
        check_every_wish_clashes(problem, explanation);
        check_fixes(problem, explanation);
    });
    CHECK((all >= 40 || !corpus()));
}

/// A request for a few packages that the corpus has, half of them with a version.
Problem random_real_problem(const fs::path& root, Dice& dice) {
    Problem problem;
    problem.indexes = corpus_channel(root, "conda-forge");
    const auto machine = yaml::Node::parse("{}", "").value();
    add_machine(machine, problem);
    for (auto left = 1 + dice.roll(4); left > 0; --left) {
        const auto& index = *problem.indexes[dice.one_in(3) ? 1 : 0];
        const auto names = index.names();
        const auto name = names[dice.roll(static_cast<std::uint32_t>(names.size()))];
        const auto rows = index.find(name).value();
        const auto record =
            index
                .record(rows,
                        rows.rows()[dice.roll(static_cast<std::uint32_t>(rows.rows().size()))])
                .value();
        auto text = record.name;
        if (!dice.one_in(3)) text += (dice.one_in(5) ? "<" : "=") + record.version;
        problem.request.specs.push_back(MatchSpec::parse(text).value());
    }
    return problem;
}

TEST_CASE("random real requests without a solution", "[solver][corpus]") {
    const auto root = corpus();
    if (!root) {
        WARN("GPKG_TEST_CORPUS is not set: no real requests are tried");
        return;
    }
    std::size_t explained = 0;
    const auto count = static_cast<std::uint32_t>(100 * test_effort());
    for (std::uint32_t seed = 0; seed < count; ++seed) {
        Dice dice(seed);
        const auto problem = random_real_problem(*root, dice);
        const auto outcome = solver::solve(problem);
        REQUIRE(outcome);
        const auto* explanation = std::get_if<Explanation>(&*outcome);
        if (explanation == nullptr) continue;
        ++explained;
        std::string asked;
        for (const auto& spec : problem.request.specs) asked += " '" + spec.to_string() + "'";
        INFO("seed " << seed << asked << "\n" << explanation->to_string());
        CHECK(lines_of(*explanation) <= 13);
        check_minimal(problem, *explanation);
        check_every_wish_clashes(problem, *explanation);
        check_fixes(problem, *explanation);
        if (is_part_possible(problem)) CHECK_FALSE(explanation->fixes.empty());
    }
    INFO("explained " << explained);
    CHECK(explained >= count / 5);
}

TEST_CASE("what real explanations cost", "[.cost]") {
    Seconds unsatisfiable{0};
    Seconds satisfiable{0};
    each_real_request(1, [&](const auto& problem, const auto& explanation) {
        if (explanation.fixes.empty()) return;
        // Beside the nearest request that has a solution.
        const auto nearest = with_changes(problem, explanation.fixes.at(0).changes).value();
        const auto spent = time_of(problem);
        const auto beside = time_of(nearest);
        fmt::print("{:7.1f} ms, {:7.1f} ms with a solution: {:4.1f} {}\n",
                   spent.count() * 1000,
                   beside.count() * 1000,
                   spent / beside,
                   problem.request.specs.front().to_string());
        unsatisfiable += spent;
        satisfiable += beside;
    });
    fmt::print("all: {:.1f} times as much\n", unsatisfiable / satisfiable);
}

}  // namespace explanations_test
