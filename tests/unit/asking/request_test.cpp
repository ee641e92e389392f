#include "libcore/asking/request.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"
#include "tests/unit/asking/installed.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace gpkg::tests;

namespace request_test {
namespace {

using Texts = std::vector<std::string>;

std::string how_it_holds(Constraint::Holds holds) {
    switch (holds) {
    case Constraint::Holds::Always: return "always";
    case Constraint::Holds::UntilNamed: return "until named";
    case Constraint::Holds::WherePossible: return "where possible";
    }
    return {};
}

/// "python[version='3.12.*'] until named"
Texts constraints(const Wanted& wanted,
                  const Present& present,
                  const std::vector<PackageRecord>& machine = {}) {
    Texts texts;
    for (const auto& one : request_of(wanted, present, machine).constraints)
        texts.push_back(fmt::format("{} {}", one.spec.to_string(), how_it_holds(one.holds)));
    return texts;
}

Texts names(const std::vector<PackageRecord>& records) {
    Texts names;
    for (const auto& record : records) names.push_back(record.name);
    return names;
}

std::string spec(const char* text) { return MatchSpec::parse(text).value().to_string(); }

Present python_and_cuda() {
    Present present;
    present.records = {installed("cuda-version", "12.9"), installed("python", "3.12.4")};
    return present;
}

}  // namespace

TEST_CASE("python keeps its minor version and CUDA its major one until they are named",
          "[asking]") {
    const auto present = python_and_cuda();
    const auto python = spec("python 3.12.*") + " until named";
    const auto cuda = spec("cuda-version 12.*") + " where possible";
    const std::vector driver{machine_has("__cuda", "13.0")};
    Wanted wanted;
    wanted.specs = specs({"numpy"});
    CHECK(constraints(wanted, present, driver) == Texts{python, cuda});
    wanted.specs = specs({"python >=3.13"});
    CHECK(constraints(wanted, present, driver) == Texts{cuda});
    // Any package that tells a CUDA names it.
    wanted.specs = specs({"pytorch-cuda=12.4"});
    CHECK(constraints(wanted, present, driver) == Texts{python});
    // One that the driver does not run is not held.
    wanted.specs = specs({"numpy"});
    CHECK(constraints(wanted, present, {machine_has("__cuda", "11.8")}) == Texts{python});
    wanted.specs.clear();
    wanted.update = {"python", "cuda-version"};
    CHECK(constraints(wanted, {}, driver).empty());
}

TEST_CASE("pins hold, and come first", "[asking]") {
    auto present = python_and_cuda();
    present.pins.push_back({specs({"numpy <2"}).front(), "pinned"});
    Wanted wanted;
    wanted.specs = specs({"scipy"});
    REQUIRE_FALSE(constraints(wanted, present).empty());
    CHECK(constraints(wanted, present).front() == spec("numpy <2") + " always");
}

TEST_CASE("a plain update takes no version from what was asked for", "[asking]") {
    Present present;
    present.records = {installed("ffmpeg", "7.1", {}, "lgpl_0"),
                       installed("lib", "3.0"),
                       installed("numpy", "2.1")};
    present.wishes = specs({"ffmpeg=*=lgpl*", "numpy"});
    const auto where_possible = [](const char* text) { return spec(text) + " where possible"; };
    Wanted wanted;
    wanted.update = {"numpy"};
    CHECK(constraints(wanted, present) ==
          Texts{where_possible("ffmpeg >=7.1"), where_possible("numpy >=2.1")});
    // What is named keeps the kind of build that was asked for.
    wanted.update = {"ffmpeg"};
    CHECK(constraints(wanted, present) == Texts{where_possible("ffmpeg >=7.1"),
                                                where_possible("numpy >=2.1"),
                                                where_possible("ffmpeg=*=lgpl*")});
    CHECK(texts(builds_kept(wanted, present)) == Texts{spec("ffmpeg=*=lgpl*")});
    // Who asks for something new may take from the rest what it needs.
    wanted.specs = specs({"numpy <2"});
    wanted.update = {"numpy"};
    CHECK(constraints(wanted, present).empty());
    wanted.specs.clear();
    wanted.accelerators.all = {AcceleratorChoice::None};
    CHECK(constraints(wanted, present).empty());
}

TEST_CASE("an update brings another build of what is for another CPU", "[asking]") {
    Present present;
    present.records = {installed("blas", "1.0", {"__archspec 1 x86_64_v4"}),
                       installed("numpy", "2.1", {"blas"}),
                       installed("zlib", "1.3")};
    const std::vector machine{machine_has("__archspec", "1", "x86_64_v3")};
    Wanted wanted;
    wanted.update = {"numpy"};
    const auto request = request_of(wanted, present, machine);
    CHECK(names(request.installed) == Texts{"numpy", "zlib"});
    CHECK(request.keep == Texts{"blas", "numpy", "zlib"});
    CHECK(leaves_out_other_cpu(wanted, present, machine));
    // Not one that is not about it, nor where it is known that there is none.
    wanted.update = {"zlib"};
    CHECK_FALSE(leaves_out_other_cpu(wanted, present, machine));
    wanted.update_all = true;
    CHECK(leaves_out_other_cpu(wanted, present, machine));
    present.keeps_other_cpu = true;
    CHECK(names(request_of(wanted, present, machine).installed) == Texts{"blas", "numpy", "zlib"});
}

TEST_CASE("what nobody asks for any more leaves a lock, and an environment where it is pruned",
          "[asking]") {
    Present present;
    present.records = {installed("old", "1")};
    Wanted wanted;
    wanted.specs = specs({"numpy"});
    CHECK(request_of(wanted, present, {}).keep == Texts{"old"});
    wanted.prune = true;
    CHECK(request_of(wanted, present, {}).keep.empty());
    wanted.prune = false;
    wanted.is_for_lock = true;
    CHECK(request_of(wanted, present, {}).keep.empty());
    CHECK(request_of(wanted, present, {}).of_what == "the lock");
}

TEST_CASE("all that bears on a request can be reached from its names", "[asking]") {
    auto present = python_and_cuda();
    present.wishes = specs({"scipy"});
    Wanted wanted;
    wanted.specs = specs({"numpy"});
    wanted.update = {"lib"};
    wanted.accelerators.of_package["torch"] = AcceleratorChoice::Nvidia;
    CHECK(names_of(request_of(wanted, present, {})) ==
          Texts{"cuda-version", "lib", "numpy", "python", "scipy", "torch"});
}

}  // namespace request_test
