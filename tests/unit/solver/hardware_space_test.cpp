#include "libcore/solve/hardware_space.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

namespace gpkg::hardware_space_test {
namespace {

using Texts = std::vector<std::string>;

PackageRecord package(const std::string& name,
                      const std::string& version,
                      const std::string& build = "0") {
    PackageRecord record;
    record.name = name;
    record.version = version;
    record.build = build;
    return record;
}

const std::vector<PackageRecord> kLinux{package("__archspec", "1", "x86_64"),
                                        package("__glibc", "2.28"),
                                        package("__linux", "4.18"),
                                        package("__unix", "0")};

HardwareSpace space_of(const Texts& depends, const Texts& constrains = {}) {
    MachineSpecs specs;
    for (const auto& text : depends) specs.take_dependency(text);
    for (const auto& text : constrains) specs.take_constraint(text);
    auto space = HardwareSpace::make(specs, kLinux);
    REQUIRE(space);
    return *std::move(space);
}

Texts ranges(const HardwareSpace& space, const std::string& name) {
    Texts ranges;
    for (const auto& axis : space.axes()) {
        if (axis.name != name) continue;
        for (const auto& cell : axis.cells) ranges.push_back(cell.range);
    }
    return ranges;
}

/// The place of the point with these packages beside those of kLinux that no axis is about.
std::size_t point_with(const HardwareSpace& space, const std::vector<PackageRecord>& packages) {
    for (std::size_t i = 0; i < space.points().size(); ++i) {
        const auto& has = space.points()[i].virtual_packages;
        const bool all = std::all_of(packages.begin(), packages.end(), [&](const auto& wanted) {
            return std::any_of(has.begin(), has.end(), [&](const auto& one) {
                return one.name == wanted.name && one.version == wanted.version &&
                       one.build == wanted.build;
            });
        });
        const bool has_gpu = std::any_of(has.begin(), has.end(), [](const auto& one) {
            return one.name == "__cuda" || one.name == "__amdgpu";
        });
        const bool wants_gpu = std::any_of(packages.begin(), packages.end(), [](const auto& one) {
            return one.name == "__cuda" || one.name == "__amdgpu";
        });
        if (all && has_gpu == wants_gpu) return i;
    }
    FAIL("no such point");
    return 0;
}

TEST_CASE("machines are told apart where specs do", "[hardware_space]") {
    CHECK(ranges(space_of({"__glibc >=2.17,<3.0.a0", "__glibc >=2.28"}), "__glibc") ==
          Texts{"<2.17", ">=2.17,<2.28", ">=2.28,<3.0.a0", ">=3.0.a0"});
    CHECK(ranges(space_of({"__cuda"}), "__cuda") == Texts{"none", "any"});
    CHECK(ranges(space_of({"__cuda 12.*"}), "__cuda") == Texts{"none", "<12", ">=12,<13", ">=13"});
    CHECK(ranges(space_of({}, {"__cuda >=12"}), "__cuda") == Texts{"none", "<12", ">=12"});
    CHECK(ranges(space_of({"__archspec 1 x86_64_v3"}), "__archspec") ==
          Texts{"x86_64", "x86_64_v3"});
    CHECK(ranges(space_of({R"(__archspec[build="^(x86_64_v3|haswell|zen)$"])"}), "__archspec")
              .size() == 2);
    // Nobody asks, so nothing is told apart; and a Linux machine has no __win.
    CHECK(ranges(space_of({"__cuda"}), "__glibc").empty());
    CHECK(ranges(space_of({"__win"}), "__win").empty());
    // A driver that is too old for a CUDA is another one for builds with it, and one that supports
    // it comes before one that only runs its major version.
    CHECK(ranges(space_of({"cuda-version >=12.4,<13"}), "__cuda") ==
          Texts{"none", "<12", ">=12,<12.4", ">=12.4"});
}

TEST_CASE("records tell machines apart by what they are", "[hardware_space]") {
    const auto space_with = [](const char* name, const char* version, const char* build) {
        MachineSpecs specs;
        specs.take_record(name, version, build);
        return HardwareSpace::make(specs, kLinux).value();
    };
    const Texts around{"none", "<7.5", ">=7.5"};
    CHECK(ranges(space_with("libcudnn", "9.13", "0"), "__cuda_arch") == around);
    CHECK(ranges(space_with("p", "1", "cuda130_0"), "__cuda_arch") == around);
    CHECK(ranges(space_with("p", "1", "cuda130_0"), "__cuda") == Texts{"none", "<13.0", ">=13.0"});
    CHECK(ranges(space_of({}, {"arm-variant * sbsa", "arm-variant * tegra"}), "__cuda") ==
          Texts{"none", "<13", ">=13"});
    CHECK(ranges(space_with("p", "1", "0"), "__cuda_arch").empty());
    const auto space = space_with("cuda-version", "13.0", "0");
    CHECK(ranges(space, "__cuda") == Texts{"none", "<13.0", ">=13.0"});
    CHECK(ranges(space, "__cuda_arch") == around);
    const auto on = [&](const char* driver, const char* device) {
        return point_with(space, {package("__cuda", driver), package("__cuda_arch", device)});
    };
    const auto newer = on("13.0", "7.5");
    const auto older = on("0", "7.5");
    const auto carries = [&](const PackageRecord& record, std::size_t from, std::size_t to) {
        return space.carries_over(machine_specs_of({record}), from, to);
    };
    CHECK_FALSE(carries(package("cuda-version", "13.0"), newer, older));
    // How others are ordered hangs on which of them run.
    CHECK_FALSE(carries(package("cuda-version", "12.9"), newer, older));
    CHECK_FALSE(carries(package("p", "1", "cuda130_0"), newer, older));
    CHECK_FALSE(carries(package("p", "1"), newer, on("13.0", "0")));
}

TEST_CASE("an answer carries over to machines on which less is possible and nothing else",
          "[hardware_space]") {
    const auto space =
        space_of({"__glibc >=2.17", "__glibc >=2.28", "__cuda >=12", "__cuda_arch >=8.0"});
    auto modest = package("a", "1");
    modest.depends = {"__glibc >=2.17"};
    auto picky = package("a", "1");
    picky.depends = {"__glibc >=2.28"};
    const auto newest = point_with(space, {package("__glibc", "2.28")});
    const auto older = point_with(space, {package("__glibc", "2.17")});
    CHECK(space.carries_over(machine_specs_of({modest}), newest, older));
    CHECK_FALSE(space.carries_over(machine_specs_of({picky}), newest, older));
    CHECK_FALSE(space.carries_over(machine_specs_of({modest}), older, newest));
    CHECK(space.has_fewer_records(newest, older));
    // Whose GPU it is changes what is preferred, and so does its architecture.
    const auto with_gpu = point_with(
        space,
        {package("__glibc", "2.28"), package("__cuda", "12"), package("__cuda_arch", "8.0")});
    CHECK_FALSE(space.carries_over(machine_specs_of({modest}), with_gpu, newest));
    for (const auto& point : space.points()) {
        const auto has = [&](const std::string& name) {
            return std::any_of(point.virtual_packages.begin(),
                               point.virtual_packages.end(),
                               [&](const auto& one) { return one.name == name; });
        };
        CHECK_FALSE((has("__cuda") && has("__amdgpu")));
        CHECK((has("__cuda") || !has("__cuda_arch")));
    }
}

}  // namespace
}  // namespace gpkg::hardware_space_test
