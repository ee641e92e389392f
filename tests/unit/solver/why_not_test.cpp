#include "libcore/solve/why_not.hpp"

#include "solver/solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/solver/random_problems.hpp"

#include <map>

using namespace gpkg;
using namespace gpkg::tests;

namespace why_not_test {
namespace {

using Verdict = WhyNot::Verdict;

/// Often about what the answer has, in another version.
MatchSpec random_question(Dice& dice, const Outcome& outcome) {
    const auto* answer = std::get_if<Solution>(&outcome);
    if (answer != nullptr && !answer->records.empty() && !dice.one_in(4)) {
        const auto& records = answer->records;
        const auto& one = records[dice.roll(static_cast<std::uint32_t>(records.size()))];
        return MatchSpec::parse(one.name + "!=" + one.version).value();
    }
    static constexpr const char* kForms[] = {"", ">=2", "<3", "=1", "==2", "==3"};
    const std::string name(1, static_cast<char>('a' + dice.roll(6)));
    return MatchSpec::parse(name + kForms[dice.roll(std::size(kForms))]).value();
}

}  // namespace

TEST_CASE("what keeps a package out of random answers", "[solver]") {
    std::map<Verdict, std::uint32_t> counts;
    for (std::uint32_t seed = 0; seed < problem_count(); ++seed) {
        Dice dice(seed);
        const auto problem = random_problem(dice);
        const auto spec = random_question(dice, solver::solve(problem).value());
        INFO("seed " << seed << "\n" << describe(problem) << spec.to_string());
        const auto found = why_not(problem, spec, solver::solve, solver::advantage);
        REQUIRE(found);
        ++counts[found->verdict];
        const auto possible = [&](const std::vector<MatchSpec>& more) {
            auto with_more = problem;
            auto& specs = with_more.request.specs;
            specs.insert(specs.end(), more.begin(), more.end());
            return Exhaustive(with_more).allows({});
        };
        REQUIRE((found->verdict == Verdict::NoAnswer) == !possible({}));
        // Where nothing is possible, a package more may let a part of it be of another kind.
        if (found->verdict != Verdict::NoAnswer)
            REQUIRE((found->verdict == Verdict::Unknown || found->verdict == Verdict::Impossible) ==
                    !possible({spec}));
        REQUIRE((found->verdict == Verdict::Chosen) ==
                (found->chosen && spec.matches(*found->chosen)));
        const bool has_chain = !found->explanation.clashes.empty();
        switch (found->verdict) {
        case Verdict::NoAnswer:
        case Verdict::Unknown:
        case Verdict::Impossible:
        case Verdict::Outranked: REQUIRE(has_chain); break;
        case Verdict::Unneeded: REQUIRE_FALSE(found->chosen); break;
        case Verdict::LessGood: REQUIRE_FALSE(found->reason.empty()); break;
        case Verdict::Chosen: break;
        }
        if (!found->possible) continue;
        REQUIRE(spec.matches(*found->possible));
        REQUIRE_FALSE(found->differences.empty());
    }
    if (test_effort() < 1) return;
    for (const auto verdict : {Verdict::Chosen,
                               Verdict::NoAnswer,
                               Verdict::Impossible,
                               Verdict::Unneeded,
                               Verdict::LessGood,
                               Verdict::Outranked}) {
        INFO(static_cast<int>(verdict));
        CHECK(counts[verdict] > problem_count() / 200);
    }
}

}  // namespace why_not_test
