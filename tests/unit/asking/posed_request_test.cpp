#include "libcore/asking/posed_request.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/asking/installed.hpp"

using namespace gpkg;
using namespace gpkg::tests;

namespace posed_request_test {
namespace {

using Kind = ProblemChange::Kind;
using Texts = std::vector<std::string>;

/// numpy is asked for beside torch, which was asked for earlier, and a pin.
PosedRequest posed() {
    PosedRequest posed;
    posed.wanted.specs = specs({"numpy >=3", "scipy"});
    posed.present.records = {installed("python", "3.12.4"), installed("torch", "2.1")};
    posed.present.wishes = specs({"torch"});
    posed.present.pins.push_back({specs({"numpy <3"}).front(), "pinned"});
    posed.problem.request = request_of(posed.wanted, posed.present, {});
    return posed;
}

PosedRequest changed(ProblemChange change, PosedRequest from = posed()) {
    REQUIRE(make_changes(from, {std::move(change)}));
    return from;
}

ProblemChange change(Kind kind, std::size_t index, const char* spec = "") {
    ProblemChange change;
    change.kind = kind;
    change.index = index;
    change.spec = spec;
    return change;
}

Texts asked(const PosedRequest& posed) { return texts(posed.problem.request.specs); }

}  // namespace

TEST_CASE("what the command asks for is replaced or left out", "[asking]") {
    CHECK(asked(posed()) == texts(specs({"numpy >=3", "scipy", "torch"})));
    CHECK(asked(changed(change(Kind::ReplaceSpec, 0, "numpy=2"))) ==
          texts(specs({"numpy=2", "scipy", "torch"})));
    CHECK(asked(changed(change(Kind::DropSpec, 0))) == texts(specs({"scipy", "torch"})));
}

TEST_CASE("an earlier wish is changed by naming it, or goes with what it was for", "[asking]") {
    const auto named = changed(change(Kind::ReplaceSpec, 2, "torch=2.0"));
    CHECK(asked(named) == texts(specs({"numpy >=3", "scipy", "torch=2.0"})));
    const auto gone = changed(change(Kind::DropSpec, 2));
    CHECK(asked(gone) == texts(specs({"numpy >=3", "scipy"})));
    CHECK(gone.present.records.size() == 1);
}

TEST_CASE("a pin is lifted, and what else holds is lifted by naming it", "[asking]") {
    const auto before = posed().problem.request.constraints;
    REQUIRE(before.size() == 2);
    const auto lifted = changed(change(Kind::DropConstraint, 0));
    REQUIRE(lifted.problem.request.constraints.size() == 1);
    CHECK(lifted.problem.request.constraints.front().spec.name == "python");
    const auto named = changed(change(Kind::DropConstraint, 1));
    CHECK(asked(named) == texts(specs({"numpy >=3", "scipy", "python", "torch"})));
    REQUIRE(named.problem.request.constraints.size() == 1);
    CHECK(named.problem.request.constraints.front().spec.name == "numpy");
}

TEST_CASE("places are those of the request as it was, whatever goes before", "[asking]") {
    auto both = posed();
    REQUIRE(make_changes(both, {change(Kind::DropSpec, 0), change(Kind::DropSpec, 1)}));
    CHECK(asked(both) == texts(specs({"torch"})));
}

TEST_CASE("what was said of a misspelled name is meant of the right one", "[asking]") {
    auto misspelled = posed();
    misspelled.wanted.accelerators.of_package["scipy"] = AcceleratorChoice::None;
    misspelled.problem.request = request_of(misspelled.wanted, misspelled.present, {});
    const auto right = changed(change(Kind::ReplaceSpec, 1, "scipyx"), misspelled);
    CHECK(right.problem.request.accelerators.of_package ==
          std::map<std::string, AcceleratorChoice>{{"scipyx", AcceleratorChoice::None}});
}

TEST_CASE("to let something change is to ask for it", "[asking]") {
    const auto let = changed(change(Kind::LetChange, 0, "torch[accel=none]"));
    CHECK(asked(let) == texts(specs({"numpy >=3", "scipy", "torch"})));
    CHECK(let.problem.request.accelerators.is_asked("torch"));
    CHECK(let.problem.request.accelerators.choice("torch") == AcceleratorChoice::None);
}

TEST_CASE("what is dropped of a problem is named no more", "[asking]") {
    Problem problem;
    problem.request.specs = specs({"numpy", "scipy", "torch"});
    problem.request.named = 2;
    const auto without = [&](const std::vector<ProblemChange>& changes) {
        return with_changes(problem, changes).value().request.named;
    };
    CHECK(without({change(Kind::DropSpec, 0), change(Kind::DropSpec, 1)}) == 0);
    CHECK(without({change(Kind::DropSpec, 1), change(Kind::DropSpec, 2)}) == 1);
    CHECK(without({change(Kind::DropSpec, 2)}) == 2);
}

}  // namespace posed_request_test
