#include "libcore/hardware/cascade.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace cascade_test {
namespace {

PackageRecord has(std::string name, std::string version, std::string build = "0") {
    PackageRecord made;
    made.name = std::move(name);
    made.version = std::move(version);
    made.build = std::move(build);
    return made;
}

Closeness closeness(const std::vector<PackageRecord>& machine, std::string_view dependency) {
    return Cascade(machine).closeness(MatchSpec::parse(dependency).value());
}

std::string obstacle(const std::vector<PackageRecord>& machine, std::string_view dependency) {
    return Cascade(machine).obstacle(MatchSpec::parse(dependency).value()).value_or("");
}

bool exceeds(const char* driver, std::string_view dependency) {
    return !obstacle({has("__cuda", driver)}, dependency).empty();
}

}  // namespace

TEST_CASE("GPU code is preferred by how close it is to the device", "[spec]") {
    const std::vector machine{has("__cuda", "12.9"), has("__cuda_arch", "8.9")};
    const auto gpu = [&](std::string_view text) { return closeness(machine, text).gpu; };
    CHECK(gpu("__cuda_arch >=8.9") > gpu("__cuda_arch >=8.6"));
    CHECK(gpu("__cuda_arch >=8.6") > gpu("__cuda_arch >=8.0"));
    CHECK(gpu("__cuda_arch >=8.0") > gpu("__cuda_arch >=7.5"));
    CHECK(gpu("__cuda_arch >=7.5") == 0);  // PTX
    CHECK(gpu("__cuda_arch") == 0);
    // What is excluded, or out of the device's reach, is no target.
    CHECK(gpu("__cuda_arch >=8.0,<9.0") == gpu("__cuda_arch >=8.0"));
    CHECK(gpu("__cuda_arch !=8.6") == 0);
    CHECK(gpu("__cuda_arch >=9.0") == 0);
    CHECK(closeness({}, "__cuda_arch >=8.9").gpu == 0);
    // Nothing is made for any device.
    const std::vector any{has("__cuda_arch", "any"), has("__amdgpu_arch", "any")};
    CHECK(closeness(any, "__cuda_arch >=12.0").gpu == 0);
    CHECK(closeness(any, "__cuda_arch >=0").gpu == 0);
    CHECK(closeness(any, "__amdgpu_arch >=0.1").gpu == 0);
    const std::vector amd{has("__amdgpu_arch", "9.0.10")};
    CHECK(closeness(amd, "__amdgpu_arch 9.0.10").gpu > closeness(amd, "__amdgpu_arch >=9.0.6").gpu);
}

TEST_CASE("CPU code is preferred by level, then by ancestry", "[spec]") {
    const std::vector machine{has("__archspec", "1", "zen5")};
    const auto cpu = [&](std::string_view text) { return closeness(machine, text).cpu; };
    CHECK(cpu("__archspec 1 x86_64_v4") > cpu("__archspec 1 x86_64_v3"));
    CHECK(cpu("__archspec 1 x86_64_v3") > cpu("__archspec 1 x86_64_v2"));
    CHECK(cpu("__archspec 1 x86_64_v2") > cpu("__archspec 1 x86_64"));
    CHECK(cpu("__archspec 1 x86_64") == 0);
    CHECK(cpu("__archspec 1 zen5") > cpu("__archspec 1 zen4"));
    CHECK(cpu("__archspec 1 zen4") > cpu("__archspec 1 x86_64_v4"));
    // As conda-forge's _x86_64-microarch-level has them.
    CHECK(cpu("_x86_64-microarch-level >=3") > cpu("_x86_64-microarch-level >=2"));
    CHECK(cpu("_x86_64-microarch-level >=1") == 0);
    CHECK(cpu("__archspec 1.* ^(x86_64_v3|haswell|zen2|zen3|zen4|zen5)$") ==
          cpu("__archspec 1 x86_64_v3"));
    CHECK(cpu("__archspec 1 armv9.0a") > cpu("__archspec 1 armv8.2a"));
}

TEST_CASE("a build for a CUDA that the driver does not run is told by all that it goes with",
          "[spec]") {
    CHECK_FALSE(exceeds("12.4", "cuda-version >=12.9,<13"));  // a later minor version runs
    CHECK(exceeds("12.8", "cuda-version >=13.0,<14"));
    CHECK(exceeds("12.8", "cudatoolkit 13.*"));
    CHECK_FALSE(exceeds("12.8", "cuda-version <13"));  // also 12 meets it
    CHECK_FALSE(exceeds("12.8", "cuda-version >=12"));
    CHECK_FALSE(exceeds("12.8", "numpy >=13"));
    CHECK_FALSE(exceeds("11.4", "cuda-version <=12.9|>=13"));  // also 11 meets it
    CHECK_FALSE(exceeds("11.4", "cuda-version >=11.8,<12"));
    CHECK_FALSE(exceeds("11.4", "cuda-version ==11.2|==12.1"));
    CHECK(exceeds("11.4", "pytorch-cuda >=12.1,<12.2"));
    CHECK(exceeds("10.2", "cudatoolkit >=11,<12"));
    CHECK_FALSE(exceeds("10.2", "cudatoolkit !=10.2"));
    CHECK(obstacle({}, "cuda-version >=13").empty());
    CHECK(obstacle({has("__cuda", "11.4")}, "pytorch-cuda 12.4.*") ==
          "is for pytorch-cuda 12.4.*, and the driver runs CUDA 11.4");
}

TEST_CASE("a build for a CUDA that makes no code for a device is told by what it goes with",
          "[spec]") {
    const auto on = [](const std::string& device, const std::string& dependency) {
        return obstacle({has("__cuda", "13.0"), has("__cuda_arch", device)}, dependency);
    };
    CHECK(on("7.0", "cuda-version >=13,<14") ==
          "is for cuda-version >=13,<14: no such CUDA makes code for compute capability 7.0");
    CHECK_FALSE(on("7.0", "cuda-version >=13.2,<14").empty());  // later than any that is known
    CHECK(on("7.5", "cuda-version >=13,<14").empty());
    CHECK(on("7.0", "cuda-version >=12,<14").empty());  // also 12 meets it
    CHECK(on("7.0", "cuda-version >=12.9,<13").empty());
    CHECK(on("7.0", "cuda-version >13.5,<14").empty());  // nothing is known of such
    CHECK(on("9.0", "cudatoolkit 11.0.*").empty());      // PTX
    CHECK(on("any", "cuda-version >=13,<14").empty());
    CHECK(on("7.0", "numpy >=13").empty());
}

TEST_CASE("what a CUDA makes for a device is told by its name alone", "[spec]") {
    const Cascade old({has("__cuda", "13.0"), has("__cuda_arch", "6.0")});
    CHECK(old.obstacle_of_cuda("13.0") ==
          "is compiled with CUDA 13.0, which makes no code for compute capability 6.0");
    CHECK(old.obstacle_of_cuda("13") ==
          "is compiled with CUDA 13, which makes no code for compute capability 6.0");
    CHECK_FALSE(old.obstacle_of_cuda("12"));
    CHECK_FALSE(old.caution_of_cuda("12.1"));
    const Cascade recent({has("__cuda", "13.0"), has("__cuda_arch", "12.0")});
    CHECK(recent.caution_of_cuda("12.1") ==
          "is compiled with CUDA 12.1, which makes no machine code for compute capability 12.0");
    CHECK_FALSE(recent.obstacle_of_cuda("12.1"));
    CHECK_FALSE(recent.caution_of_cuda("12"));  // 12.8 does
    CHECK_FALSE(Cascade({}).caution_of_cuda("12.1"));
}

TEST_CASE("what runs as PTX at best is told by the toolkit of a build, else by what it goes with",
          "[spec]") {
    const auto on = [](const std::string& device, PackageRecord record) {
        return Cascade({has("__cuda", "13.0"), has("__cuda_arch", device)})
            .caution_of(record)
            .value_or("");
    };
    const auto of = [](std::string build, std::vector<std::string> depends) {
        auto record = has("torch", "2.6", std::move(build));
        record.depends = std::move(depends);
        return record;
    };
    CHECK(on("12.0", of("cuda126_mkl_0", {})) ==
          "is compiled with CUDA 12.6, which makes no machine code for compute capability 12.0");
    CHECK(on("12.0", of("cuda126_mkl_0", {"cuda-version >=12.6,<13"})) ==
          on("12.0", of("cuda126_mkl_0", {})));
    CHECK(on("12.0", of("cuda129_mkl_0", {})).empty());
    CHECK(
        on("12.0", of("py312_0", {"cuda-version >=12.4,<12.5"})) ==
        "is for cuda-version >=12.4,<12.5: no such CUDA makes machine code for compute capability "
        "12.0");
    CHECK(on("12.0", of("py312_0", {"cuda-version >=12.4,<13"})).empty());  // 12.9 does
    CHECK(on("9.0", of("py312_0", {"cudatoolkit 11.2.*"})) != "");
    CHECK(on("9.0", of("py312_0", {"cudatoolkit[version='11.2.*',when='python <3.9']"})).empty());
    CHECK(on("7.0", of("cuda130_0", {})).empty());  // it does not run at all
    CHECK(on("9.0", of("py312_0", {"numpy >=12.4,<12.5"})).empty());
}

TEST_CASE("of several NVIDIA devices what is made for one is made for none", "[spec]") {
    auto arch = has("__cuda_arch", "8.6");
    arch.flags = {"8.6", "9.0"};
    const std::vector machine{has("__cuda", "12.9"), arch};
    CHECK(closeness(machine, "__cuda_arch >=8.6").gpu == 0);  // PTX on the other
    CHECK(obstacle(machine, "__cuda_arch >=8.6").empty());
    CHECK(obstacle(machine, "__cuda_arch >=8.6,<9") ==
          "is for __cuda_arch >=8.6,<9, and a GPU here is 9.0");
    CHECK(obstacle(machine, "__cuda_arch >=9").empty());  // which the lowest does not meet
    arch.flags = {"8.6", "8.9"};
    const std::vector alike{has("__cuda", "12.9"), arch};
    CHECK(closeness(alike, "__cuda_arch >=8.6").gpu > closeness(alike, "__cuda_arch >=8.0").gpu);
}

}  // namespace cascade_test
