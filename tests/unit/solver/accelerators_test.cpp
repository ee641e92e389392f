#include "libcore/solve/accelerators.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace accelerators_test {
namespace {

PackageRecord record(std::string name, std::string build = "0") {
    PackageRecord made;
    made.name = std::move(name);
    made.version = "1";
    made.build = std::move(build);
    return made;
}

std::string found(const std::vector<PackageRecord>& installed,
                  std::initializer_list<const char*> machine) {
    std::vector<PackageRecord> offered;
    for (const auto* name : machine) offered.push_back(record(name));
    const auto vendor = found_accelerator(installed, offered);
    return vendor ? std::string(to_string(*vendor)) : "either";
}

std::vector<MatchSpec> specs(std::initializer_list<const char*> texts) {
    std::vector<MatchSpec> parsed;
    for (const auto* text : texts) parsed.push_back(MatchSpec::parse(text).value());
    return parsed;
}

}  // namespace

TEST_CASE("auto is what is installed, else the device, else the driver", "[solve]") {
    CHECK(found({}, {}) == "none");
    CHECK(found({}, {"__cuda"}) == "nvidia");
    CHECK(found({}, {"__amdgpu"}) == "amd");
    CHECK(found({}, {"__cuda", "__cuda_arch", "__amdgpu"}) == "nvidia");
    CHECK(found({}, {"__cuda", "__amdgpu", "__amdgpu_arch"}) == "amd");
    CHECK(found({}, {"__cuda", "__amdgpu"}) == "either");
    CHECK(found({}, {"__cuda_arch", "__amdgpu_arch"}) == "either");
    // ROCm's folder alone is no GPU.
    CHECK(found({}, {"__rocm"}) == "none");
    CHECK(found({}, {"__rocm", "__cuda"}) == "nvidia");
    CHECK(found({record("torch", "rocm6_0")}, {"__cuda", "__cuda_arch"}) == "amd");
    CHECK(found({record("torch", "cuda129_0")}, {}) == "nvidia");
    CHECK(found({record("torch", "cuda129_0"), record("jax", "rocm6_0")}, {}) == "none");
    // A compiler says nothing of what is to run.
    auto part = record("cuda-cudart");
    part.depends = {"cuda-version >=12.9,<12.10.0a0"};
    CHECK(found({part}, {}) == "none");
    // Nor does a library that there is in one form only.
    auto linked = record("openmm");
    linked.depends = {"cuda-nvrtc >=12.9,<13"};
    CHECK(found({linked}, {"__amdgpu"}) == "amd");
}

TEST_CASE("an environment only builds where a compiler was asked for and nothing runs", "[solve]") {
    const auto compiler = record("cuda-nvcc");
    const auto builds = [&](std::initializer_list<const char*> asked,
                            const std::vector<PackageRecord>& records,
                            const Accelerators& accelerators = {}) {
        return only_compiles_for_nvidia(specs(asked), records, accelerators);
    };
    CHECK(builds({"cuda-nvcc=13"}, {compiler, record("cuda-version")}));
    CHECK(builds({"libcublas-dev"}, {}));
    CHECK_FALSE(builds({"cuda-cudart"}, {compiler}));
    CHECK_FALSE(builds({"cuda-nvcc[when=\"python<3\"]"}, {compiler}));
    CHECK_FALSE(builds({}, {compiler}));
    CHECK_FALSE(builds({"cuda-nvcc"}, {compiler, record("torch", "cuda129_0")}));
    auto either = record("openmm");
    either.depends = {"cuda-version >=13", "rocm-core >=7"};
    CHECK_FALSE(builds({"cuda-nvcc"}, {compiler, either}));
    // What would run on the GPU, and came for none, must run; unless that was asked for.
    CHECK_FALSE(builds({"cuda-nvcc"}, {compiler, record("torch", "cpu_0")}));
    Accelerators none;
    none.of_package["torch"] = AcceleratorChoice::None;
    CHECK(builds({"cuda-nvcc"}, {compiler, record("torch", "cpu_0")}, none));
}

TEST_CASE("a CUDA is named by what tells one, and by the version of a part", "[solve]") {
    const auto driver = std::vector{record("__cuda")};
    CHECK(names_cuda(specs({"cuda-version 12.9.*"}), {}));
    CHECK(names_cuda(specs({"libcublas >=12"}), {}));
    CHECK(names_cuda(specs({"cuda-version"}), driver));
    CHECK_FALSE(names_cuda(specs({"cuda-version", "libcublas"}), {}));
    CHECK_FALSE(names_cuda(specs({"libcublas", "numpy >=2"}), driver));
    CHECK_FALSE(names_cuda(specs({"cuda-version[version=\"12.9.*\",when=\"python<3\"]"}), driver));
}

TEST_CASE("of several choices those count for whose GPUs something is there", "[solver]") {
    using enum AcceleratorChoice;
    using Choices = std::vector<AcceleratorChoice>;
    PackageRecord driver;
    driver.name = "__cuda";
    PackageRecord amd;
    amd.name = "__amdgpu_arch";
    CHECK(choices_on({driver}, {Amd, Nvidia, None}) == Choices{Nvidia, None});
    CHECK(choices_on({driver, amd}, {Amd, Nvidia, None}) == Choices{Amd, Nvidia, None});
    CHECK(choices_on({}, {Amd, Nvidia, None}) == Choices{None});
    CHECK(choices_on({}, {Amd, Nvidia}) == Choices{Amd, Nvidia});
    CHECK(choices_on({}, {Nvidia}) == Choices{Nvidia});
    CHECK(choices_on({}, {Auto, None}) == Choices{Auto, None});
    CHECK(choices_on({}, {}).empty());
}

TEST_CASE("the machine tells why builds for an accelerator come first", "[solver]") {
    using enum Accelerator;
    CHECK(machine_reason("h100", {record("__cuda"), record("__cuda_arch")}, Nvidia) ==
          "h100 has an NVIDIA GPU");
    CHECK(machine_reason("this machine", {record("__cuda")}, Nvidia) ==
          "this machine has an NVIDIA driver");
    CHECK(machine_reason("this machine", {}, None) == "this machine has no GPU");
    CHECK(machine_reason("this machine", {}, Nvidia).empty());
    CHECK(machine_reason("this machine", {record("__cuda")}, None).empty());
}

TEST_CASE("CUDA of a later minor version than the driver's is told", "[solver]") {
    auto driver = record("__cuda");
    driver.version = "12.4";
    CHECK(note_on_cuda_minor_version({driver},
                                     {record("t", "cuda126_0"), record("u", "cuda129_0")}) ==
          "CUDA 12.9 runs with a driver for CUDA 12.4 (same major version), except code that needs "
          "PTX compilation");
    CHECK_FALSE(note_on_cuda_minor_version({driver}, {record("t", "cuda124_0"), record("u")}));
    CHECK_FALSE(note_on_cuda_minor_version({driver}, {record("t", "cuda130_0")}));
    CHECK_FALSE(
        note_on_cuda_minor_version({driver}, {record("t", "cuda129_0"), record("cuda-compat")}));
    CHECK_FALSE(note_on_cuda_minor_version({}, {record("t", "cuda129_0")}));
}

}  // namespace accelerators_test
