#include "libcore/hardware/cascade.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"

using namespace gpkg;
using gpkg::tests::machine_has;

namespace cascade_test {
namespace {

Closeness closeness(const std::vector<PackageRecord>& machine, std::string_view dependency) {
    return Cascade(machine).closeness(MatchSpec::parse(dependency).value());
}

}  // namespace

TEST_CASE("GPU code is preferred by how close it is to the device", "[spec]") {
    const std::vector machine{machine_has("__cuda", "12.9"), machine_has("__cuda_arch", "8.9")};
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
    const std::vector any{machine_has("__cuda_arch", "any"), machine_has("__amdgpu_arch", "any")};
    CHECK(closeness(any, "__cuda_arch >=12.0").gpu == 0);
    CHECK(closeness(any, "__cuda_arch >=0").gpu == 0);
    CHECK(closeness(any, "__amdgpu_arch >=0.1").gpu == 0);
    const std::vector amd{machine_has("__amdgpu_arch", "9.0.10")};
    CHECK(closeness(amd, "__amdgpu_arch 9.0.10").gpu > closeness(amd, "__amdgpu_arch >=9.0.6").gpu);
}

TEST_CASE("CPU code is preferred by level, then by ancestry", "[spec]") {
    const std::vector machine{machine_has("__archspec", "1", "zen5")};
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

TEST_CASE("of several NVIDIA devices what is made for one is made for none", "[spec]") {
    auto arch = machine_has("__cuda_arch", "8.6");
    arch.flags = {"8.6", "9.0"};
    const std::vector machine{machine_has("__cuda", "12.9"), arch};
    CHECK(closeness(machine, "__cuda_arch >=8.6").gpu == 0);  // PTX on the other
    arch.flags = {"8.6", "8.9"};
    const std::vector alike{machine_has("__cuda", "12.9"), arch};
    CHECK(closeness(alike, "__cuda_arch >=8.6").gpu > closeness(alike, "__cuda_arch >=8.0").gpu);
}

}  // namespace cascade_test
