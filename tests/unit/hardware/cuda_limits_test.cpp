#include "libcore/hardware/cuda_limits.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"

using namespace gpkg;
using gpkg::tests::machine_has;

namespace cuda_limits_test {
namespace {

std::string obstacle(const std::vector<PackageRecord>& machine, std::string_view dependency) {
    return CudaLimits(machine).obstacle(MatchSpec::parse(dependency).value()).value_or("");
}

bool exceeds(const char* driver, std::string_view dependency) {
    return !obstacle({machine_has("__cuda", driver)}, dependency).empty();
}

}  // namespace

TEST_CASE("a build string may tell of a CUDA that the driver does not run", "[spec]") {
    const CudaLimits limits({machine_has("__cuda", "12.8")});
    CHECK(limits.obstacle_of_build("cuda130_py312_0").value_or("") ==
          "is compiled with CUDA 13.0, but the driver supports CUDA 12.8");
    CHECK_FALSE(limits.obstacle_of_build("cuda129_py312_0"));  // a later minor version runs
    CHECK_FALSE(limits.obstacle_of_build("py312_cu118_0"));
    CHECK_FALSE(limits.obstacle_of_build("cpu_py312_0"));
    CHECK(limits.obstacle_of_build("cuda13_py312_0").value_or("") ==
          "is compiled with CUDA 13, but the driver supports CUDA 12.8");
    CHECK_FALSE(limits.obstacle_of_build("cuda12_py312_0"));
    CHECK_FALSE(CudaLimits({}).obstacle_of_build("cuda130_py312_0"));
    CHECK_FALSE(CudaLimits({machine_has("__cuda", "any")}).obstacle_of_build("cuda130_py312_0"));
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
    CHECK(obstacle({machine_has("__cuda", "11.4")}, "pytorch-cuda 12.4.*") ==
          "needs pytorch-cuda 12.4.*, but the driver supports CUDA 11.4");
}

TEST_CASE("a build for a CUDA that makes no code for a device is told by what it goes with",
          "[spec]") {
    const auto on = [](const std::string& device, const std::string& dependency) {
        return obstacle({machine_has("__cuda", "13.0"), machine_has("__cuda_arch", device)},
                        dependency);
    };
    CHECK(on("7.0", "cuda-version >=13,<14") ==
          "needs cuda-version >=13,<14, which does not support compute capability 7.0");
    CHECK_FALSE(on("7.0", "cuda-version >=13.2,<14").empty());  // later than any that is known
    CHECK(on("7.5", "cuda-version >=13,<14").empty());
    CHECK(on("7.0", "cuda-version >=12,<14").empty());  // also 12 meets it
    CHECK(on("7.0", "cuda-version >=12.9,<13").empty());
    CHECK_FALSE(on("7.0", "cuda-version >13.5,<14").empty());
    CHECK(on("9.0", "cudatoolkit 11.0.*").empty());  // PTX
    CHECK(on("any", "cuda-version >=13,<14").empty());
    CHECK(on("7.0", "numpy >=13").empty());
}

TEST_CASE("before CUDA 13 builds for Arm servers and for Tegra do not run on each other",
          "[spec]") {
    const auto on = [](const char* driver, const char* device, std::string_view dependency) {
        return obstacle({machine_has("__cuda", driver), machine_has("__cuda_arch", device)},
                        dependency);
    };
    CHECK(on("12.6", "8.7", "arm-variant * sbsa") ==
          "needs arm-variant * sbsa, but compute capability 8.7 is a Tegra");
    CHECK(on("12.6", "8.7", "arm-variant * tegra").empty());
    CHECK(on("12.6", "8.7", "arm-variant").empty());
    CHECK(on("12.8", "9.0", "arm-variant * sbsa").empty());
    CHECK(on("12.8", "9.0", "arm-variant * tegra") ==
          "needs arm-variant * tegra, but compute capability 9.0 is not a Tegra");
    CHECK(on("13.0", "11.0", "arm-variant * sbsa").empty());
    CHECK(on("12.6", "any", "arm-variant * sbsa").empty());
    // NVIDIA's own libraries name it in `constrains` alone; a CUDA there says nothing.
    PackageRecord record;
    record.name = "libcublas";
    record.constrains = {"cuda-version >=13", "arm-variant * sbsa"};
    CHECK(CudaLimits({machine_has("__cuda", "12.6"), machine_has("__cuda_arch", "8.7")})
              .obstacle_of(record)
              .value_or("") == "needs arm-variant * sbsa, but compute capability 8.7 is a Tegra");
}

TEST_CASE("what a CUDA makes for a device is told by its name alone", "[spec]") {
    const CudaLimits old({machine_has("__cuda", "13.0"), machine_has("__cuda_arch", "6.0")});
    CHECK(old.obstacle_of_cuda("13.0") ==
          "is compiled with CUDA 13.0, which does not support compute capability 6.0");
    CHECK(old.obstacle_of_cuda("13") ==
          "is compiled with CUDA 13, which does not support compute capability 6.0");
    CHECK_FALSE(old.obstacle_of_cuda("12"));
    CHECK_FALSE(old.caution_of_cuda("12.1"));
    const CudaLimits recent({machine_has("__cuda", "13.0"), machine_has("__cuda_arch", "12.0")});
    CHECK(recent.caution_of_cuda("12.1") ==
          "is compiled with CUDA 12.1, which has no machine code for compute capability 12.0");
    CHECK_FALSE(recent.obstacle_of_cuda("12.1"));
    CHECK_FALSE(recent.caution_of_cuda("12"));  // 12.8 does
    CHECK_FALSE(CudaLimits({}).caution_of_cuda("12.1"));
}

TEST_CASE("what stands for a CUDA, and libraries that gave up GPUs, are told by their versions",
          "[spec]") {
    const auto told =
        [](std::vector<PackageRecord> machine, std::string name, std::string version) {
            PackageRecord record;
            record.name = std::move(name);
            record.version = std::move(version);
            return CudaLimits(machine).obstacle_of(record).value_or("");
        };
    const auto volta =
        std::vector{machine_has("__cuda", "13.0"), machine_has("__cuda_arch", "7.0")};
    CHECK(told(volta, "cuda-version", "13.0") ==
          "is for CUDA 13.0, which does not support compute capability 7.0");
    CHECK(told(volta, "cuda-version", "12.9").empty());
    CHECK(told({machine_has("__cuda", "11.4")}, "cudatoolkit", "12.1.0") ==
          "is for CUDA 12.1.0, but the driver supports CUDA 11.4");
    CHECK(told({machine_has("__cuda", "11.4")}, "cudatoolkit", "11.8.0").empty());
    CHECK(told(volta, "libcudnn", "9.11.0.98") ==
          "does not support compute capability 7.0 (dropped in 9.11)");
    CHECK(told(volta, "libcudnn", "9.10.2.21").empty());
    CHECK(told(volta, "libcudf", "26.04.00").empty());
    CHECK(told(volta, "libcublas", "13.0").empty());
    CHECK(told({}, "libcudnn", "9.13").empty());
    const auto pascal = std::vector{machine_has("__cuda_arch", "6.0")};
    CHECK(told(pascal, "libcudf", "24.02.00") ==
          "does not support compute capability 6.0 (dropped in 24.02)");
    CHECK(told(pascal, "libcudf", "23.12.00").empty());
    CHECK(told({machine_has("__cuda_arch", "7.5")}, "libcudnn", "9.13").empty());
    CHECK(told({machine_has("__cuda_arch", "7.5")}, "flash-attn", "2.8.3") ==
          "does not support compute capability 7.5 (dropped in 2)");
    CHECK(told({machine_has("__cuda_arch", "8.6")}, "flash-attn", "2.8.3").empty());
    CHECK(told({machine_has("__cuda_arch", "any")}, "libcudnn", "9.13").empty());
}

TEST_CASE("what runs as PTX at best is told by the toolkit of a build, else by what it goes with",
          "[spec]") {
    const auto on = [](const std::string& device, PackageRecord record) {
        return CudaLimits({machine_has("__cuda", "13.0"), machine_has("__cuda_arch", device)})
            .caution_of(record)
            .value_or("");
    };
    const auto of = [](std::string build, std::vector<std::string> depends) {
        auto record = machine_has("torch", "2.6", std::move(build));
        record.depends = std::move(depends);
        return record;
    };
    CHECK(on("12.0", of("cuda126_mkl_0", {})) ==
          "is compiled with CUDA 12.6, which has no machine code for compute capability 12.0");
    CHECK(on("12.0", of("cuda126_mkl_0", {"cuda-version >=12.6,<13"})) ==
          on("12.0", of("cuda126_mkl_0", {})));
    CHECK(on("12.0", of("cuda129_mkl_0", {})).empty());
    CHECK(on("12.0", of("py312_0", {"cuda-version >=12.4,<12.5"})) ==
          "needs cuda-version >=12.4,<12.5, which has no machine code for compute capability "
          "12.0");
    CHECK(on("12.0", of("py312_0", {"cuda-version >=12.4,<13"})).empty());  // 12.9 does
    CHECK(on("9.0", of("py312_0", {"cudatoolkit 11.2.*"})) != "");
    CHECK(on("9.0", of("py312_0", {"cudatoolkit[version='11.2.*',when='python <3.9']"})).empty());
    CHECK(on("7.0", of("cuda130_0", {})).empty());  // it does not run at all
    CHECK(on("9.0", of("py312_0", {"numpy >=12.4,<12.5"})).empty());
}

TEST_CASE("of several NVIDIA devices a build has to be for each", "[spec]") {
    auto arch = machine_has("__cuda_arch", "8.6");
    arch.flags = {"8.6", "9.0"};
    const std::vector machine{machine_has("__cuda", "12.9"), arch};
    CHECK(obstacle(machine, "__cuda_arch >=8.6").empty());
    CHECK(obstacle(machine, "__cuda_arch >=8.6,<9") ==
          "needs __cuda_arch >=8.6,<9, but a GPU here has 9.0");
    CHECK(obstacle(machine, "__cuda_arch >=9").empty());  // which the lowest does not meet
}

TEST_CASE("of the code that a build declares, what suits the device best counts", "[spec]") {
    const auto best = [](std::string arch, std::vector<std::string> flags, std::string_view on) {
        PackageRecord record;
        if (!arch.empty()) record.depends.push_back("__cuda_arch " + arch);
        record.flags = std::move(flags);
        const auto code = declared_code(record, Version::parse(on).value());
        if (!code) return std::string("none");
        const auto* fit = code->fit == CodeFit::Exact       ? "exact"
                          : code->fit == CodeFit::SameMajor ? "same major"
                                                            : "compiled";
        return code->target.to_string() + " " + fit;
    };
    CHECK(best(">=7.0,<8|>=8.0,<9", {}, "8.0") == "8.0 exact");
    CHECK(best(">=7.0,<8|>=8.0,<9", {}, "8.6") == "8.0 same major");
    CHECK(best(">=8.0,<9|>=9.0,<10|>=12.0,<13", {}, "9.0") == "9.0 exact");
    CHECK(best(">=7.0", {}, "8.0") == "7.0 compiled");
    CHECK(best(">=7.0,<8|>=8.0", {}, "9.0") == "8.0 compiled");
    CHECK(best(">=7.0", {"cuda", "sm:70", "sm:80"}, "8.0") == "8.0 exact");
    CHECK(best("", {"sm:80", "sm:90a"}, "9.0") == "9.0a exact");
    CHECK(best("", {"sm:80"}, "9.0") == "none");
    CHECK(best(">=9.0,<10", {}, "8.0") == "none");
}

TEST_CASE("NVIDIA's drivers give up devices", "[spec]") {
    const auto last = [](int capability) {
        const auto cuda = last_driver_for({capability});
        return cuda ? cuda->to_string() : "";
    };
    CHECK(last(37) == "11.4");
    CHECK(last(61) == "13.0");
    CHECK(last(70) == "13.0");
    CHECK(last(75).empty());
}

}  // namespace cuda_limits_test
