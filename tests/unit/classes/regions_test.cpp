#include "libcore/classes/regions.hpp"

#include "libcore/index/repodata.hpp"
#include "libcore/solve/answer.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace gpkg;

namespace regions_test {
namespace {

using Texts = std::vector<std::string>;

class Dice {
public:
    explicit Dice(std::uint32_t seed) : engine_(seed) {}
    bool one_in(std::uint32_t sides) { return engine_() % sides == 0; }
    template <typename T>
    const T& of(const std::vector<T>& all) {
        return all[engine_() % all.size()];
    }

private:
    std::mt19937 engine_;
};

PackageRecord virtual_package(const std::string& name,
                              const std::string& version,
                              const std::string& build = "0") {
    PackageRecord record;
    record.name = name;
    record.version = version;
    record.build = build;
    return record;
}

const std::vector<PackageRecord> kLeast{virtual_package("__archspec", "1", "aarch64"),
                                        virtual_package("__glibc", "0"),
                                        virtual_package("__linux", "0"),
                                        virtual_package("__unix", "0")};

/// What CudaLimits and the cascade tell of builds: by what they depend on, by what they constrain,
/// by their build strings and by their own versions. No two builds have one number: what tells such
/// apart hangs on which others there are.
std::string random_channel(Dice& dice) {
    static const Texts kBuilds{
        "0", "cpu_0", "cuda_0", "cuda118_0", "cuda126_0", "cuda129_0", "cuda130_0", "rocm60_0"};
    static const Texts kDepends{"__cuda",
                                "__cuda >=12",
                                "__cuda_arch >=8.0",
                                "__cuda_arch >=9.0",
                                "__amdgpu_arch >=9.0.10",
                                "__glibc >=2.28",
                                "cuda-version >=11.2,<12",
                                "cuda-version >=12.4,<13",
                                "cuda-version >=13,<14",
                                "libcudnn",
                                "libcudnn <9.11"};
    static const Texts kConstrains{
        "arm-variant * sbsa", "arm-variant * tegra", "__cuda >=12.4", "__glibc >=2.34"};
    auto packages = nlohmann::json::object();
    int build_number = 0;
    const auto add = [&](const std::string& name, const std::string& version, std::string build) {
        Texts depends;
        Texts constrains;
        if (name == "app" || name == "lib") {
            while (!dice.one_in(2)) depends.push_back(dice.of(kDepends));
            if (dice.one_in(3)) constrains.push_back(dice.of(kConstrains));
            if (name == "app" && dice.one_in(2)) depends.emplace_back("lib");
        }
        build_number = (build_number + 5) % 16;
        packages[fmt::format("{}-{}-{}.conda", name, version, build)] = {
            {"name", name},
            {"version", version},
            {"build", build},
            {"build_number", build_number},
            {"depends", depends},
            {"constrains", constrains}};
    };
    for (const auto* version : {"1", "2"}) {
        for (const auto* name : {"app", "lib"}) {
            for (int i = 0; i < 3; ++i) add(name, version, dice.of(kBuilds));
        }
    }
    for (const auto* version : {"11.8", "12.6", "12.9", "13.0"}) add("cuda-version", version, "0");
    for (const auto* version : {"9.10", "9.13"}) add("libcudnn", version, "0");
    return nlohmann::json{{"packages.conda", packages}}.dump();
}

Problem random_problem(Dice& dice) {
    Problem problem;
    auto index = read_repodata(random_channel(dice),
                               {"https://host/channel",
                                "linux-aarch64",
                                "https://host/channel/linux-aarch64/repodata.json"});
    REQUIRE(index);
    problem.indexes.push_back(std::make_shared<const ChannelIndex>(*std::move(index)));
    problem.request.specs = {MatchSpec::parse("app").value()};
    auto& accelerators = problem.request.accelerators;
    accelerators.in_turn = {dice.of(std::vector{AcceleratorChoice::Auto,
                                                AcceleratorChoice::Auto,
                                                AcceleratorChoice::Nvidia,
                                                AcceleratorChoice::None})};
    accelerators.all = accelerators.in_turn.front();
    problem.wants_reasons = false;
    problem.wants_notes = false;
    return problem;
}

std::vector<PackageRecord> random_machine(Dice& dice) {
    static const Texts kDrivers{"11.4", "11.8", "12.2", "12.6", "12.9", "13.0", "13.1"};
    static const Texts kDevices{"6.1", "7.0", "7.2", "7.5", "8.6", "8.7", "9.0", "10.0", "11.0"};
    static const Texts kAmdDevices{"9.0.8", "9.0.10", "9.4.2", "10.3.0", "11.0.0"};
    auto machine = kLeast;
    machine[1].version = dice.of(Texts{"2.17", "2.28", "2.39"});
    if (dice.one_in(5)) return machine;
    if (dice.one_in(5)) {
        machine.push_back(virtual_package("__amdgpu", "6.10"));
        machine.push_back(virtual_package("__amdgpu_arch", dice.of(kAmdDevices)));
        return machine;
    }
    machine.push_back(virtual_package("__cuda", dice.of(kDrivers)));
    if (dice.one_in(5)) return machine;
    machine.push_back(virtual_package("__cuda_arch", dice.of(kDevices)));
    return machine;
}

/// Where a machine is on an axis: in the last cell that begins no later.
std::size_t cell_of(const HardwareSpace::Axis& axis, const std::vector<PackageRecord>& machine) {
    const auto* own = find_record(machine, axis.name);
    std::size_t found = 0;
    for (std::size_t i = 0; i < axis.cells.size(); ++i) {
        const auto& record = axis.cells[i].record;
        if (own == nullptr || !record) continue;
        if (axis.name == "__archspec"
                ? record->build == own->build
                : Version::parse(record->version).value() <= Version::parse(own->version).value())
            found = i;
    }
    return found;
}

std::size_t point_of(const HardwareSpace& space, const std::vector<PackageRecord>& machine) {
    std::vector<std::size_t> cells;
    for (const auto& axis : space.axes()) cells.push_back(cell_of(axis, machine));
    const auto found = std::ranges::find(space.points(), cells, &MachinePoint::cells);
    REQUIRE(found != space.points().end());
    return static_cast<std::size_t>(found - space.points().begin());
}

std::string files(const std::vector<PackageRecord>& records) {
    Texts files;
    for (const auto& record : records) files.push_back(record.fn);
    std::ranges::sort(files);
    return fmt::format("{}", fmt::join(files, ", "));
}

/// What the region has that the point is in; nothing where it has no answer.
std::optional<std::string> told_by(const Regions& regions, std::size_t point) {
    for (const auto& region : regions.regions) {
        if (std::ranges::find(region.points, point) != region.points.end())
            return files(region.solution.records);
    }
    return std::nullopt;
}

std::optional<std::string> solved_for(Problem problem, const std::vector<PackageRecord>& machine) {
    problem.virtual_packages = machine;
    const auto answered = answer(problem, solver::solve);
    REQUIRE(answered);
    const auto* solution = std::get_if<Solution>(&answered->outcome);
    return solution == nullptr ? std::nullopt : std::optional(files(solution->records));
}

}  // namespace

TEST_CASE("a region has what a solve gives each of its machines", "[classes]") {
    const auto problems = static_cast<std::uint32_t>(300 * tests::test_effort());
    std::size_t several = 0;
    for (std::uint32_t seed = 0; seed < problems; ++seed) {
        Dice dice(seed);
        const auto problem = random_problem(dice);
        const auto regions =
            decision_regions(problem, kLeast, solver::solve, [](std::size_t, std::size_t) {});
        REQUIRE(regions);
        several += regions->regions.size() > 1 ? 1 : 0;
        for (int i = 0; i < 20; ++i) {
            const auto machine = random_machine(dice);
            Texts words;
            for (const auto& one : machine) words.push_back(one.name + " " + one.version);
            INFO("seed " << seed << ": " << fmt::format("{}", fmt::join(words, ", ")));
            REQUIRE(told_by(*regions, point_of(regions->space, machine)).value_or("no answer") ==
                    solved_for(problem, machine).value_or("no answer"));
        }
    }
    CHECK(several >= problems / 3);
}

}  // namespace regions_test
