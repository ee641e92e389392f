#include "virtual-packages/amd.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace amd_test {
namespace {

std::string node(unsigned simds, unsigned per_unit, unsigned gfx) {
    return fmt::format(
        "cpu_cores_count {}\nsimd_count {}\nsimd_per_cu {}\ngfx_target_version {}\nvendor_id {}\n",
        gfx == 0 ? 64 : 0,
        simds,
        per_unit,
        gfx,
        gfx == 0 ? 0 : 4098);
}

/// A node with one CPU, an MI250's half, an MI300X.
void add_topology(const tests::Machine& machine) {
    const fs::path nodes = "sys/class/kfd/kfd/topology/nodes";
    machine.file(nodes / "0/properties", node(0, 0, 0));
    machine.file(nodes / "1/properties", node(440, 4, 90010));
    machine.file(nodes / "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 68702699520\n");
    machine.file(nodes / "1/mem_banks/1/properties", "heap_type 4\nsize_in_bytes 65536\n");
    machine.file(nodes / "10/properties", node(1216, 4, 90402));
    machine.file(nodes / "10/mem_banks/0/properties", "heap_type 2\nsize_in_bytes 206141652992\n");
}

}  // namespace

TEST_CASE("AMD devices are read from the KFD topology", "[virtual-packages]") {
    tests::Machine machine;
    add_topology(machine);
    machine.file("dev/kfd", "");
    const auto facts = detect_amd(machine.host);
    CHECK(facts.devices == std::vector<GpuDevice>{{GpuVendor::Amd, "", "gfx90a", 65520, 110},
                                                  {GpuVendor::Amd, "", "gfx942", 196592, 304}});
    REQUIRE(facts.driver);
    CHECK(facts.driver->source == "/sys/class/kfd/kfd/topology/nodes");
    CHECK(facts.warnings.empty());
    CHECK_FALSE(facts.rocm);
}

TEST_CASE("a device that cannot be opened is told of", "[virtual-packages]") {
    tests::Machine machine;
    add_topology(machine);
    CHECK(detect_amd(machine.host).warnings ==
          std::vector<std::string>{"/dev/kfd is missing: the AMD GPU cannot be used for computing "
                                   "(in a container, pass the device)"});
}

TEST_CASE("damaged topology files are no devices", "[virtual-packages]") {
    const auto text = GENERATE("",
                               "gfx_target_version\n",
                               "gfx_target_version x\n",
                               "gfx_target_version -1\n",
                               "gfx_target_version 99999999999999999999\n",
                               "simd_count 440\n");
    tests::Machine machine;
    machine.file("sys/class/kfd/kfd/topology/nodes/1/properties", text);
    machine.file("sys/class/kfd/kfd/topology/nodes/odd/properties", node(440, 4, 90010));
    const auto facts = detect_amd(machine.host);
    CHECK(facts.devices.empty());
    CHECK_FALSE(facts.driver);
}

TEST_CASE("the display class gives presence without an architecture", "[virtual-packages]") {
    struct Row {
        std::string vendor, driver;
        bool present;
    };
    const auto row = GENERATE(values<Row>({{"0x1002\n", "amdgpu", true},
                                           {"0x1002\n", "radeon", false},
                                           {"0x10de\n", "amdgpu", false}}));
    tests::Machine machine;
    machine.file("sys/class/drm/card1/device/vendor", row.vendor);
    fs::create_symlink("../../../bus/pci/drivers/" + row.driver,
                       machine.host.root / "sys/class/drm/card1/device/driver");
    machine.file("sys/class/drm/card1-HDMI-A-1/device/vendor", "0x1002\n");
    const auto facts = detect_amd(machine.host);
    CHECK(facts.driver.has_value() == row.present);
    CHECK(facts.devices.empty());
}

TEST_CASE("ROCm's version is in its installation", "[virtual-packages]") {
    struct Row {
        std::string path, variable, text, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"opt/rocm", "", "6.4.1-83\n", "6.4.1"},
        {"opt/rocm", "", "7.0.0\n", "7.0.0"},
        {"opt/rocm", "", "6.4.1-83", "6.4.1"},
        {"sw/rocm-6.2", "/sw/rocm-6.2", "6.2.0-66\n", "6.2.0"},
        {"opt/rocm", "/sw/rocm-6.2", "6.4.1-83\n", "absent"},
        {"opt/rocm", "", "", "absent"},
        {"opt/rocm", "", "unknown\n", "absent"},
        {"opt/rocm", "", "6\n", "absent"},
    }));
    // clang-format on
    tests::Machine machine;
    machine.file(fs::path(row.path) / ".info/version", row.text);
    machine.host.env = tests::environment({{"ROCM_PATH", row.variable}});
    const auto facts = detect_amd(machine.host);
    CHECK((facts.rocm ? facts.rocm->value : "absent") == row.expected);
}

}  // namespace amd_test
