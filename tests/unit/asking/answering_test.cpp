#include "libcore/asking/answering.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"
#include "tests/unit/asking/installed.hpp"

#include <algorithm>

using namespace gpkg;
using namespace gpkg::tests;

namespace answering_test {
namespace {

using Texts = std::vector<std::string>;

Solution solution_of_records(const std::vector<PrefixRecord>& records) {
    Solution solution;
    for (const auto& record : records) solution.records.push_back(record.package);
    return solution;
}

bool asks_for(const Problem& problem, std::string_view name) {
    return std::ranges::find(problem.request.specs, name, &MatchSpec::name) !=
           problem.request.specs.end();
}

}  // namespace

TEST_CASE("what nobody recorded as asked for counts as that where it would leave", "[asking]") {
    PosedRequest posed;
    posed.wanted.specs = specs({"cuda-version <=12.8"});
    posed.present.records = {installed("torch", "2.1")};
    posed.present.leaves = specs({"torch"});
    posed.problem.request = request_of(posed.wanted, posed.present, {});
    std::vector<bool> asked;
    const Solve solve = [&](const Problem& problem) -> Result<Outcome> {
        asked.push_back(asks_for(problem, "torch"));
        return Outcome(solution_of_records(
            asked.back() ? std::vector{installed("cuda-version", "12.8"), installed("torch", "2.0")}
                         : std::vector{installed("cuda-version", "12.8")}));
    };
    const auto solution = solution_of(posed, solve);
    REQUIRE(solution);
    REQUIRE(*solution);
    CHECK((*solution)->records.size() == 2);
    CHECK(asked == std::vector{false, true});
    CHECK(texts(posed.present.wishes) == texts(specs({"torch"})));
}

TEST_CASE("what is for another CPU stays where there is nothing for this one", "[asking]") {
    PosedRequest posed;
    posed.wanted.update_all = true;
    posed.present.records = {installed("blas", "1.0", {"__archspec 1 x86_64_v4"})};
    posed.problem.virtual_packages = {machine_has("__archspec", "1", "x86_64_v3")};
    posed.problem.request = request_of(posed.wanted, posed.present, posed.problem.virtual_packages);
    std::vector<std::size_t> installed_then;
    const Solve solve = [&](const Problem& problem) -> Result<Outcome> {
        installed_then.push_back(problem.request.installed.size());
        if (problem.request.installed.empty()) return Outcome(Explanation{});
        return Outcome(Solution{});
    };
    const auto outcome = answer_to(posed, solve);
    REQUIRE(outcome);
    CHECK(std::holds_alternative<Solution>(*outcome));
    // Each way of putting it fails first.
    CHECK(installed_then.front() == 0);
    CHECK(installed_then.back() == 1);
}

TEST_CASE("the vendor whose builds there are is preferred, and doubt is told", "[asking]") {
    const auto ask = [](const char* nvidia, const char* amd, bool nvidia_runs = true) {
        PosedRequest posed;
        posed.wanted.specs = specs({"torch"});
        auto& machine = posed.problem.virtual_packages;
        machine = {machine_has("__cuda_arch", "9.0"), machine_has("__amdgpu_arch", "9.4.2")};
        posed.problem.machine = "this machine";
        posed.problem.request = request_of(posed.wanted, {}, machine);
        const Solve solve = [=](const Problem& problem) -> Result<Outcome> {
            const bool is_amd = problem.request.accelerators.preferred == Accelerator::Amd;
            auto solution =
                solution_of_records({installed("torch", "2", {}, is_amd ? amd : nvidia)});
            if (!is_amd && !nvidia_runs) solution.not_running.push_back({"torch", "needs PTX"});
            return Outcome(std::move(solution));
        };
        const auto doubt = prefer_vendor(posed, solve);
        REQUIRE(doubt);
        return std::pair(*doubt, posed.problem.request.accelerators.preferred);
    };
    CHECK(ask("cuda129_0", "rocm6_0") ==
          std::pair(std::optional<std::string>(
                        "this machine has GPUs of two vendors, which need different "
                        "packages: nvidia selects torch-2-cuda129_0, amd selects torch-2-rocm6_0"),
                    std::optional(Accelerator::Nvidia)));
    CHECK(ask("cuda129_0", "cpu_0") ==
          std::pair(std::optional<std::string>(), std::optional(Accelerator::Nvidia)));
    CHECK(ask("cpu_0", "rocm6_0") ==
          std::pair(std::optional<std::string>(), std::optional(Accelerator::Amd)));
    // Nobody wants those that do not run.
    CHECK(ask("cuda129_0", "rocm6_0", false) ==
          std::pair(std::optional<std::string>(), std::optional(Accelerator::Amd)));
}

}  // namespace answering_test
