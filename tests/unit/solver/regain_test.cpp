// Builds for the GPU that is there, on small random channels.

#include "libcore/index/repodata.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"
#include "tests/unit/solver/random_problems.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace gpkg;
using namespace gpkg::tests;

namespace regain_test {
namespace {

constexpr std::uint32_t kNames = 6;

std::string name_text(std::uint32_t name) { return std::string(1, static_cast<char>('a' + name)); }

std::string random_dependency(Dice& dice, std::uint32_t name) {
    static constexpr const char* kForms[] = {
        "{}", "{}", "{} >=2", "{} <3", "{} ==2", "{} * cuda*", "{} * cpu*"};
    return fmt::format(fmt::runtime(kForms[dice.roll(std::size(kForms))]), name_text(name));
}

/// A record as repodata has it. Packages need only what comes behind them in the alphabet.
std::string random_record(Dice& dice,
                          std::uint32_t name,
                          std::uint32_t version,
                          const std::string& build) {
    std::vector<std::string> depends;
    for (auto count = dice.roll(3); count > 0 && name + 1 < kNames; --count)
        depends.push_back(random_dependency(dice, name + 1 + dice.roll(kNames - name - 1)));
    if (build.starts_with("cuda") && dice.one_in(2)) depends.emplace_back("__cuda");
    const auto title = fmt::format("{}-{}-{}", name_text(name), version, build);
    return fmt::format(
        R"("{}.conda":{{"name":"{}","version":"{}","build":"{}","build_number":{},"depends":{}}})",
        title,
        name_text(name),
        version,
        build,
        dice.roll(3),
        nlohmann::json(depends).dump());
}

Problem random_problem_with_gpu(Dice& dice) {
    std::vector<std::string> records;
    for (std::uint32_t name = 0; name < kNames; ++name) {
        const bool has_accelerators = !dice.one_in(4);
        for (std::uint32_t version = 1; version <= 3; ++version) {
            if (!has_accelerators) {
                records.push_back(random_record(dice, name, version, "0"));
                continue;
            }
            for (const auto* build : {"cuda126_0", "cuda126_1", "cpu_0", "cpu_1"}) {
                if (!dice.one_in(3)) records.push_back(random_record(dice, name, version, build));
            }
        }
    }
    const std::string base = "https://host/channel";
    auto index =
        read_repodata(fmt::format(R"({{"packages.conda":{{{}}}}})", fmt::join(records, ",")),
                      {base, "linux-64", base + "/linux-64/repodata.json"});
    REQUIRE(index);
    Problem problem;
    problem.indexes = {std::make_shared<const ChannelIndex>(*std::move(index))};
    problem.virtual_packages = {machine_has("__cuda", "12.8"), machine_has("__cuda_arch", "9.0")};
    problem.request.accelerators.all = AcceleratorChoice::Auto;
    for (auto count = 1 + dice.roll(3); count > 0; --count)
        problem.request.specs.push_back(MatchSpec::parse(name_text(dice.roll(kNames))).value());
    problem.wants_reasons = false;
    problem.wants_notes = false;
    return problem;
}

bool is_for_gpu(const PackageRecord& record) { return record.build.starts_with("cuda"); }

/// Whether the very packages go together, in these versions, with the builds for GPUs that are
/// there and one of `name`.
bool could_have(const Problem& problem,
                const std::vector<PackageRecord>& records,
                const std::string& name) {
    auto other = problem;
    other.request.accelerators.all = AcceleratorChoice::Conda;
    std::set<std::string> left_out;
    for (std::uint32_t one = 0; one < kNames; ++one) left_out.insert(name_text(one));
    for (const auto& record : records) {
        left_out.erase(record.name);
        const bool is_to_be = is_for_gpu(record) || record.name == name;
        other.request.specs.push_back(
            MatchSpec::parse(
                fmt::format("{}=={}{}", record.name, record.version, is_to_be ? "=cuda*" : ""))
                .value());
    }
    for (const auto& one : left_out)
        other.request.constraints.push_back({MatchSpec::parse(one + "==99").value()});
    return std::holds_alternative<Solution>(solver::solve(other).value());
}

std::string all_of(const Problem& problem) {
    std::string text;
    for (const auto name : problem.indexes.front()->names()) {
        const auto found = problem.indexes.front()->find(name).value();
        for (const auto& row : found.rows()) {
            const auto record = problem.indexes.front()->record(found, row).value();
            text += fmt::format("\n  {} {}: {}",
                                record.distribution(),
                                record.build_number,
                                fmt::join(record.depends, "; "));
        }
    }
    return text;
}

std::string told(const Problem& problem, const std::vector<PackageRecord>& records) {
    std::string text;
    for (const auto& spec : problem.request.specs) text += " " + spec.to_string();
    for (const auto& record : records) text += "\n" + record.distribution();
    return text;
}

}  // namespace

TEST_CASE("no package has a build for CPUs where one for the GPU costs nothing", "[solver]") {
    std::uint32_t for_cpus = 0;
    for (std::uint32_t seed = 0; seed < 4 * problem_count(); ++seed) {
        Dice dice(seed);
        const auto problem = random_problem_with_gpu(dice);
        const auto outcome = solver::solve(problem);
        REQUIRE(outcome);
        const auto* solution = std::get_if<Solution>(&*outcome);
        if (solution == nullptr) continue;
        for (const auto& record : solution->records) {
            if (!record.build.starts_with("cpu")) continue;
            ++for_cpus;
            INFO("seed " << seed << ":" << told(problem, solution->records) << all_of(problem));
            CAPTURE(record.name);
            REQUIRE_FALSE(could_have(problem, solution->records, record.name));
        }
    }
    CHECK(for_cpus > problem_count() / 4);  // else nothing was tried
}

}  // namespace regain_test
