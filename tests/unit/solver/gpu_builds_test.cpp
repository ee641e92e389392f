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
#include <optional>
#include <set>
#include <utility>

using namespace gpkg;
using namespace gpkg::tests;

namespace gpu_builds_test {
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

/// The builds of that version, of a name; for GPUs alone, or all.
std::vector<PackageRecord> builds_of(const Problem& problem,
                                     const PackageRecord& like,
                                     bool for_gpu_alone) {
    std::vector<PackageRecord> builds;
    const auto found = problem.indexes.front()->find(like.name).value();
    for (const auto& row : found.rows()) {
        auto record = problem.indexes.front()->record(found, row).value();
        if (record.version == like.version && (is_for_gpu(record) || !for_gpu_alone))
            builds.push_back(std::move(record));
    }
    return builds;
}

/// What needs what, "a b", from what is asked for on, which "" needs; nothing where something is
/// missing among these.
std::optional<std::set<std::string>> needs_in(const Problem& problem,
                                              const std::vector<PackageRecord>& records) {
    std::set<std::string> needs;
    std::vector<std::pair<std::string, std::string>> open;
    for (const auto& spec : problem.request.specs) open.emplace_back("", spec.to_string());
    while (!open.empty()) {
        const auto [user, text] = open.back();
        open.pop_back();
        const auto spec = MatchSpec::parse(text).value();
        if (spec.name == "__cuda") continue;
        const auto* record = find_record(records, spec.name);
        if (record == nullptr || !spec.matches(*record)) return std::nullopt;
        if (!needs.insert(user + " " + spec.name).second) continue;
        for (const auto& depend : record->depends) open.emplace_back(spec.name, depend);
    }
    return needs;
}

/// Of these needs, those on the ways from what is asked for to `name`.
std::set<std::string> ways_to(const std::string& name, const std::set<std::string>& needs) {
    std::set<std::string> ways;
    std::vector<std::string> open{name};
    while (!open.empty()) {
        const auto one = open.back();
        open.pop_back();
        if (needs.contains(" " + one)) continue;  // it is asked for
        for (const auto& need : needs) {
            if (need.ends_with(" " + one) && ways.insert(need).second)
                open.push_back(need.substr(0, need.find(' ')));
        }
    }
    return ways;
}

/// Whether there is an answer of the very packages in these versions, with the builds for GPUs that
/// are there and one of `name`, which goes on to be needed by what needs it.
bool could_have(const Problem& problem,
                const std::vector<PackageRecord>& records,
                const std::string& name) {
    std::vector<std::vector<PackageRecord>> choices;
    for (const auto& record : records) {
        choices.push_back(builds_of(problem, record, is_for_gpu(record) || record.name == name));
        if (choices.back().empty()) return false;
    }
    const auto ways = ways_to(name, needs_in(problem, records).value());
    std::vector<std::size_t> taken(choices.size());
    while (true) {
        std::vector<PackageRecord> chosen;
        for (std::size_t i = 0; i < choices.size(); ++i) chosen.push_back(choices[i][taken[i]]);
        const auto needs = needs_in(problem, chosen);
        if (needs && std::ranges::includes(*needs, ways)) return true;
        std::size_t place = 0;
        while (place < taken.size() && ++taken[place] == choices[place].size()) taken[place++] = 0;
        if (place == taken.size()) return false;
    }
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

TEST_CASE("no requested package has a CPU build where a GPU build costs nothing", "[solver]") {
    std::uint32_t for_cpus = 0;
    for (std::uint32_t seed = 0; seed < 4 * problem_count(); ++seed) {
        Dice dice(seed);
        const auto problem = random_problem_with_gpu(dice);
        const auto outcome = solver::solve(problem);
        REQUIRE(outcome);
        const auto* solution = std::get_if<Solution>(&*outcome);
        if (solution == nullptr) continue;
        for (const auto& record : solution->records) {
            const bool is_requested = std::ranges::any_of(
                problem.request.specs, [&](const auto& spec) { return spec.name == record.name; });
            if (!is_requested || !record.build.starts_with("cpu")) continue;
            ++for_cpus;
            INFO("seed " << seed << ":" << told(problem, solution->records) << all_of(problem));
            CAPTURE(record.name);
            REQUIRE_FALSE(could_have(problem, solution->records, record.name));
        }
    }
    CHECK(for_cpus > problem_count() / 4);  // else nothing was tried
}

}  // namespace gpu_builds_test
