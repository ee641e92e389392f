#include "libcore/solve/answer.hpp"

#include "solver/solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"

using namespace gpkg;
using gpkg::tests::machine_has;

namespace answer_test {
namespace {

using Choice = AcceleratorChoice;

/// A solver of one package x, in whose place the ways that it was asked in are told.
struct Asked {
    std::vector<std::string> ways{};

    /// `answers` says of a way whether it has an answer.
    template <typename Answers>
    Solve solve(Answers answers) {
        return [this, answers](const Problem& problem) -> Result<Outcome> {
            const auto& request = problem.request;
            auto way = std::string(to_string(request.accelerators.all));
            for (const auto& constraint : request.constraints)
                way += " " + constraint.spec.to_string();
            if (request.only_compiles) way += " building";
            if (problem.wants_reasons) way += "?";
            ways.push_back(way);
            if (!answers(way)) return Outcome(Explanation{});
            return Outcome(Solution{});
        };
    }
};

MatchSpec spec(const char* text) { return MatchSpec::parse(text).value(); }

Problem problem_with(std::vector<Choice> in_turn, std::initializer_list<const char*> held = {}) {
    Problem problem;
    problem.virtual_packages = {machine_has("__cuda", "12.8"), machine_has("__amdgpu", "6.0")};
    problem.request.specs = {spec("x")};
    problem.request.accelerators.all = in_turn.front();
    problem.request.accelerators.in_turn = std::move(in_turn);
    for (const auto* text : held)
        problem.request.constraints.push_back(
            {spec(text), "holds", Constraint::Holds::WherePossible});
    return problem;
}

}  // namespace

TEST_CASE("one way is asked once, with reasons", "[solve]") {
    Asked asked;
    const auto answered =
        answer(problem_with({Choice::Auto}), asked.solve([](const auto&) { return false; }));
    REQUIRE(answered);
    CHECK(asked.ways == std::vector<std::string>{"auto?"});
    CHECK(std::holds_alternative<Explanation>(answered->outcome));
}

TEST_CASE("accelerators are tried in turn, and the first is explained", "[solve]") {
    Asked asked;
    const auto problem = problem_with({Choice::Nvidia, Choice::Amd, Choice::None});
    auto answered =
        answer(problem, asked.solve([](const auto& way) { return way.starts_with("amd"); }));
    REQUIRE(answered);
    CHECK(asked.ways == std::vector<std::string>{"nvidia", "amd"});
    CHECK(std::get<Solution>(answered->outcome).accelerator == Choice::Amd);
    CHECK(answered->problem.request.accelerators.all == Choice::Amd);
    CHECK(answered->problem.wants_reasons);

    asked.ways.clear();
    answered = answer(problem, asked.solve([](const auto&) { return false; }));
    REQUIRE(answered);
    CHECK(asked.ways == std::vector<std::string>{"nvidia", "amd", "none", "nvidia?"});
    CHECK(answered->problem.request.accelerators.all == Choice::Nvidia);
}

TEST_CASE("an answer for another accelerator than the first says so", "[solve]") {
    Asked asked;
    const auto answered =
        answer(problem_with({Choice::Nvidia, Choice::None}),
               asked.solve([](const auto& way) { return way.starts_with("none"); }));
    REQUIRE(answered);
    CHECK(texts_of(std::get<Solution>(answered->outcome).notes) ==
          std::vector<std::string>{"cannot solve with accelerator nvidia; using accelerator none "
                                   "(--accel auto allows any)"});
}

TEST_CASE("builds for none do not stand in for those that there are none of", "[solve]") {
    auto problem = problem_with({Choice::Nvidia});
    problem.request.specs = {spec("sim"), spec("torch")};
    std::vector<PackageRecord> records(2);
    records[0].name = "sim";
    records[0].build = "cpu_mpi";
    records[1].name = "torch";
    records[1].build = "cuda129_0";
    std::vector<bool> bound;
    const auto solve = [&](const Problem& asked) -> Result<Outcome> {
        bound.push_back(asked.request.accelerators.is_bound_without_any("sim"));
        if (bound.back()) return Outcome(Explanation{});
        Solution solution;
        solution.records = records;
        return Outcome(std::move(solution));
    };
    auto answered = answer(problem, solve);
    REQUIRE(answered);
    CHECK(std::holds_alternative<Solution>(answered->outcome));
    CHECK(bound == std::vector<bool>{false});

    // Where nothing is for the accelerator, that is the answer, and why.
    records.pop_back();
    bound.clear();
    answered = answer(problem, solve);
    REQUIRE(answered);
    CHECK(std::holds_alternative<Explanation>(answered->outcome));
    CHECK(bound == std::vector<bool>{false, true});
}

TEST_CASE("what holds where possible is given up one at a time, and then all", "[solve]") {
    Asked asked;
    const auto problem = problem_with({Choice::Auto}, {"a==1", "b==2"});
    auto answered =
        answer(problem, asked.solve([](const auto& way) { return way == "auto a==1"; }));
    REQUIRE(answered);
    CHECK(asked.ways == std::vector<std::string>{"auto a==1 b==2", "auto b==2", "auto a==1"});
    REQUIRE(answered->problem.request.constraints.size() == 1);

    asked.ways.clear();
    answered = answer(problem, asked.solve([](const auto&) { return false; }));
    REQUIRE(answered);
    CHECK(asked.ways ==
          std::vector<std::string>{"auto a==1 b==2", "auto b==2", "auto a==1", "auto?"});
}

TEST_CASE("a CUDA is named by what tells one, or by the version of a part of it", "[solve]") {
    const std::vector<PackageRecord> driver{machine_has("__cuda", "12.8")};
    CHECK(names_cuda({spec("cuda-version")}, driver));
    CHECK(names_cuda({spec("numpy"), spec("cuda-nvcc=12.4")}, driver));
    CHECK(names_cuda({spec("pytorch-cuda=12.1")}, {}));
    // Without a driver, what was built before drivers were asked for is no better.
    CHECK_FALSE(names_cuda({spec("cudatoolkit")}, {}));
    CHECK_FALSE(names_cuda({spec("cuda-nvcc")}, driver));
    CHECK_FALSE(names_cuda({spec("numpy=2")}, driver));
}

TEST_CASE("what is only to build with is asked for without the driver, last", "[solve]") {
    auto problem = problem_with({Choice::Auto});
    problem.request.specs = {spec("cuda-nvcc")};
    Asked asked;
    auto answered =
        answer(problem, asked.solve([](const auto& way) { return way.ends_with("building"); }));
    REQUIRE(answered);
    CHECK(asked.ways == std::vector<std::string>{"auto", "auto building"});
    const auto& solution = std::get<Solution>(answered->outcome);
    CHECK(texts_of(solution.notes) ==
          std::vector<std::string>{"programs built with this CUDA do not run on this machine: its "
                                   "driver supports CUDA 12.8"});

    // Without a driver nothing is in the way of it.
    problem.virtual_packages.clear();
    asked.ways.clear();
    REQUIRE(answer(problem, asked.solve([](const auto&) { return false; })));
    CHECK(asked.ways == std::vector<std::string>{"auto?"});
}

TEST_CASE("a compiler for a CUDA that the driver does not run is told of", "[solve]") {
    auto problem = problem_with({Choice::Auto});
    problem.request.specs = {spec("cuda-nvcc")};
    const auto notes_with = [&](std::string version) {
        const auto answered = answer(problem, [&](const Problem&) -> Result<Outcome> {
            Solution solution;
            auto& nvcc = solution.records.emplace_back();
            nvcc.name = "cuda-nvcc";
            nvcc.version = version;
            return solution;
        });
        REQUIRE(answered);
        return texts_of(std::get<Solution>(answered->outcome).notes).size();
    };
    CHECK(notes_with("13.0.48") == 1);
    CHECK(notes_with("12.9.86") == 0);
}

}  // namespace answer_test
