#include "virtual-packages/devices.hpp"

#include "tests/support/catch.hpp"

namespace gpkg::virtual_packages::devices_test {
namespace {

HardwareProfile with_gpus(int count) {
    HardwareProfile profile;
    for (int i = 0; i < count; ++i) {
        GpuDevice gpu;
        gpu.vendor = GpuVendor::Nvidia;
        gpu.architecture = "9.0";
        profile.gpus.push_back(gpu);
    }
    return profile;
}

TEST_CASE("numbers of devices that are not there", "[virtual-packages]") {
    auto choice = DeviceChoice::parse("0,2").value();
    auto two = with_gpus(2);
    CHECK_FALSE(keep_devices(two, choice));
    // Once and for all they are said of more machines than one.
    choice.is_standing = true;
    CHECK(keep_devices(two, choice));
    CHECK(two.gpus.size() == 1);
    auto none = with_gpus(0);
    CHECK(keep_devices(none, choice));

    auto far = DeviceChoice::parse("4,5").value();
    far.is_standing = true;
    two = with_gpus(2);
    CHECK(keep_devices(two, far));
    CHECK(two.gpus.size() == 2);
}

}  // namespace
}  // namespace gpkg::virtual_packages::devices_test
