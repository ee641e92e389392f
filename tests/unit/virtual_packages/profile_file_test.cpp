#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace profile_file_test {
namespace {

const std::string kWhole =
    R"(# Hardware profile. Use it with --for THIS_FILE to solve for that machine.
gpkg_profile: 1
platform: linux-64
cpu:
  model: AMD EPYC 9654 96-Core Processor
  microarchitecture: zen4
system:
  glibc: "2.36"
  linux: 6.1.0
nvidia:
  driver: 550.54.14
  cuda: "12.4"
amd:
  driver: present
  rocm: 6.4.1
gpus:
  - vendor: nvidia
    name: NVIDIA H100 80GB HBM3
    architecture: "9.0"
    memory_mib: 81559
  - vendor: amd
    architecture: gfx90a
    memory_mib: 65520
    compute_units: 110
  - vendor: intel
    name: Intel Arc A770
    memory_mib: 16384
  - vendor: intel
    architecture: 12.60.7
virtual_packages:
  - name: __level_zero
    version: "1.6"
  - name: __mlx5
    version: 24.10.1
    build: inbox
)";

std::string failure(std::string_view text) {
    const auto read = parse_profile(text, "a.yaml");
    return read ? "accepted" : read.error().to_string();
}

}  // namespace

TEST_CASE("a profile is written as it is read", "[virtual-packages]") {
    const std::string head =
        "# Hardware profile. Use it with --for THIS_FILE to solve for that machine.\n"
        "gpkg_profile: 1\n";
    const auto text = GENERATE_COPY(values<std::string>({
        kWhole,
        head + "platform: osx-arm64\nsystem:\n  osx: \"14.4\"\n",
        head + "platform: linux-64\nsystem:\n  glibc: none\n",
        head + "platform: linux-64\n",
    }));
    const auto profile = parse_profile(text, "a.yaml");
    REQUIRE(profile);
    CHECK(format_profile(*profile) == text);
}

TEST_CASE("a profile's facts give virtual packages as detected ones do", "[virtual-packages]") {
    const auto profile = parse_profile(kWhole, "a.yaml");
    REQUIRE(profile);
    std::string text;
    const auto detection = virtual_packages_of(*profile, "linux-64", tests::environment({}));
    for (const auto& [package, source] : detection.packages)
        text += fmt::format("{} ({})\n", package.to_string(), source);
    CHECK(text ==
          "__amdgpu=0=0 (a.yaml)\n"
          "__amdgpu_arch=9.0.10=0 (the device with the most compute units)\n"
          "__archspec=1=zen4 (a.yaml)\n"
          "__cuda=12.4=0 (a.yaml)\n"
          "__cuda_arch=9.0=0 (lowest compute capability of the devices)\n"
          "__glibc=2.36=0 (a.yaml)\n"
          "__level_zero=1.6=0 (a.yaml)\n"
          "__linux=6.1.0=0 (a.yaml)\n"
          "__mlx5=24.10.1=inbox (a.yaml)\n"
          "__rocm=6.4.1=0 (a.yaml)\n"
          "__unix=0=0 (the target platform)\n");
}

TEST_CASE("a detected machine survives its file", "[virtual-packages]") {
    tests::Machine machine;
    machine.file("sys/class/kfd/kfd/topology/nodes/1/properties",
                 "simd_count 440\nsimd_per_cu 4\ngfx_target_version 90010\n");
    const auto detected = detect_profile(machine.host).profile;
    const auto path = machine.scratch() / "here.yaml";
    REQUIRE(write_profile(detected, path));
    const auto read = read_profile(path);
    REQUIRE(read);
    CHECK(format_profile(*read) == format_profile(detected));
    CHECK(read->glibc->source == path.native());
    CHECK(read->gpus == detected.gpus);
}

TEST_CASE("versions that YAML takes for numbers are read as they are written",
          "[virtual-packages]") {
    const auto profile = parse_profile(
        "gpkg_profile: 1\nplatform: linux-64\nsystem: {glibc: 2.40, linux: 6.10}\n"
        "nvidia: {driver: 570, cuda: 12}\namd: {driver: present, rocm: 6.40}\n"
        "gpus: [{vendor: nvidia, architecture: 9.0}, {vendor: nvidia, architecture: 12.10}]\n",
        "a.yaml");
    REQUIRE(profile);
    CHECK(profile->glibc->value == "2.40");
    CHECK(profile->linux_->value == "6.10");
    CHECK(profile->nvidia_driver->value == "570");
    CHECK(profile->cuda->value == "12");
    CHECK(profile->rocm->value == "6.40");
    CHECK(profile->gpus[0].architecture == "9.0");
    CHECK(profile->gpus[1].architecture == "12.10");
    CHECK(parse_profile(format_profile(*profile), "b.yaml")->cuda->value == "12");
    const auto mac =
        parse_profile("gpkg_profile: 1\nplatform: osx-arm64\nsystem: {osx: 14}\n", "m");
    REQUIRE(mac);
    CHECK(mac->osx->value == "14");
}

TEST_CASE("a damaged profile is refused with the place and the reason", "[virtual-packages]") {
    struct Row {
        std::string text, expected;
    };
    const std::string head = "gpkg_profile: 1\nplatform: linux-64\n";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"", "a.yaml: expected a hardware profile, found nothing"},
        {"- 1\n", "a.yaml:1:1: expected a hardware profile, found a list"},
        {"platform: linux-64\n",
         "a.yaml:1:1: not a hardware profile: the key gpkg_profile is missing\n  hint: gpkg hardware export writes one"},
        {"gpkg_profile: 2\nplatform: linux-64\n",
         "a.yaml:1:15: unknown format 2; this gpkg reads 1\n  hint: a newer gpkg may read it"},
        {"gpkg_profile: one\n", "a.yaml:1:15: expected a whole number for gpkg_profile, found one"},
        {"gpkg_profile: 1\n", "a.yaml:1:1: expected `platform:` with a name like linux-64"},
        {"gpkg_profile: 1\nplatform: linux\n", "a.yaml:2:11: linux is not a platform\n  hint: did you mean linux-32, linux-64 or linux-ppc?"},
        {"gpkg_profile: 1\nplatform: linux64\n", "a.yaml:2:11: linux64 is not a platform\n  hint: did you mean linux-64?"},
        {head + "nvidai:\n  cuda: \"12.4\"\n", "a.yaml:4:3: unknown key nvidai\n  hint: did you mean nvidia?"},
        {head + "nvidia:\n  drivers: \"12.4\"\n", "a.yaml:4:12: unknown key drivers\n  hint: did you mean driver?"},
        {head + "nvidia: \"12.4\"\n", "a.yaml:3:9: expected a map, found a single value"},
        {head + "nvidia:\n  cuda: yes\n", "a.yaml:4:9: expected a version such as 12.4, or the word 'any', found \"yes\""},
        {head + "nvidia:\n  cuda: \"\"\n", "a.yaml:4:9: expected a version such as 12.4, or the word 'any', found \"\""},
        {head + "nvidia:\n  cuda: 12x\n", "a.yaml:4:9: expected a version such as 12.4, or the word 'any', found \"12x\""},
        {head + "nvidia:\n  cuda: 1e1\n", "a.yaml:4:9: expected a version such as 12.4, or the word 'any', found \"1e1\""},
        {head + "nvidia:\n  cuda: [12]\n", "a.yaml:4:9: expected cuda, found a list"},
        {head + "system:\n  glibc: 2\n", "a.yaml:4:10: expected a version such as 2.28, or the word 'any', found \"2\""},
        {head + "system:\n  linux: 6\n", "a.yaml:4:10: expected a version such as 2.28, or the word 'any', found \"6\""},
        {head + "cpu:\n  microarchitecture: zen44\n",
         "a.yaml:4:22: unknown microarchitecture zen44\n  hint: did you mean zen4?"},
        {head + "cpu:\n  microarchitecture: diamond_rapids\n",
         "a.yaml:4:22: unknown microarchitecture diamond_rapids\n  hint: use an archspec name; for a newer CPU, an older one that it is compatible with, e.g. x86_64_v4 or armv8.2a"},
        {head + "amd:\n  driver: maybe\n", "a.yaml:4:11: expected present or absent, found \"maybe\""},
        {head + "gpus: 2\n", "a.yaml:3:7: expected a list of GPUs, found a single value"},
        {head + "gpus:\n  - A100\n", "a.yaml:4:5: expected a GPU as a map, found a single value"},
        {head + "gpus:\n  - vendor: matrox\n", "a.yaml:4:13: expected `vendor: nvidia`, `vendor: amd` or `vendor: intel`, found \"matrox\""},
        {head + "gpus:\n  - vendor: intel\n    architecture: xe\n", "a.yaml:5:19: expected `architecture:` with numbers like 12.60.7, found \"xe\""},
        {head + "virtual_packages: __a\n", "a.yaml:3:19: expected a list of virtual packages, found a single value"},
        {head + "virtual_packages:\n  - name: __cuda\n",
         "a.yaml:4:11: __cuda is reserved\n  hint: use a name that neither conda nor gpkg defines"},
        {head + "virtual_packages:\n  - name: __a\n    version: b\n", "a.yaml:5:14: expected a version like 1.3, found \"b\""},
        {head + "virtual_packages:\n  - name: __a\n  - name: __a\n", "a.yaml:5:5: __a is listed twice"},
        {head + "gpus:\n  - vendor: nvidia\n    architecture: gfx90a\n",
         "a.yaml:5:19: expected `architecture:` with a compute capability like \"9.0\", found \"gfx90a\""},
        {head + "gpus:\n  - vendor: amd\n    architecture: \"9.0\"\n",
         "a.yaml:5:19: expected `architecture:` with a name like gfx90a, found \"9.0\""},
        {head + "gpus:\n  - vendor: amd\n    architecture: gfx90a\n    memory_mib: -1\n",
         "a.yaml:6:17: -1 is out of range"},
        {"gpkg_profile: 1\nplatform: linux-46\n", "a.yaml:2:11: linux-46 is not a platform\n  hint: did you mean linux-64 or linux-32?"},
        {head + "gpus:\n  - vendor: nvidia\n    architecture: \"9.0\"\n",
         "a.yaml:4:3: there is an NVIDIA GPU, but `nvidia:` with `cuda:` is missing\n  hint: set `cuda:` to the newest CUDA that its driver supports, or any"},
        {head + "gpus:\n  - vendor: amd\n    architecture: gfx90a\n",
         "a.yaml:4:3: there is an AMD GPU, but `amd:` with `driver: present` is missing"},
        {head + "cpu:\n  microarchitecture: neoverse_n1\n", "a.yaml:4:22: neoverse_n1 is not a CPU type for linux-64"},
        {head + "system:\n  osx: \"14.4\"\n", "a.yaml:4:8: platform linux-64 has no osx"},
        {"gpkg_profile: 1\nplatform: linux-64\nnvidia: {driver: 450.80.02, cuda: \"13.0\"}\n",
         "a.yaml:3:9: driver 450.80.02 supports CUDA 11 and cannot support 13.0"},
        {"gpkg_profile: 1\nplatform: linux-64\nnvidia: {cuda: \"12.2\"}\ngpus: [{vendor: nvidia, architecture: \"10.0\"}]\n",
         "a.yaml:4:7: compute capability 10.0 needs a driver for CUDA 12.8 or newer, but the driver supports 12.2"},
        {"gpkg_profile: 1\nplatform: linux-64\nknown_by: rumour\n", "a.yaml:3:11: expected names, found \"rumour\""},
        {"gpkg_profile: 1\nplatform: osx-arm64\nsystem:\n  glibc: \"2.36\"\n", "a.yaml:4:10: platform osx-arm64 has no glibc"},
        {"gpkg_profile: 1\nplatform: osx-arm64\nnvidia:\n  cuda: \"12.4\"\n", "a.yaml:4:3: NVIDIA has no driver for osx-arm64"},
    }));
    // clang-format on
    CAPTURE(row.text);
    CHECK(failure(row.text) == row.expected);
}

TEST_CASE("drivers and devices that go together", "[profile]") {
    const auto reads = [](const std::string& driver,
                          const std::string& cuda,
                          const std::string& device) {
        return parse_profile("gpkg_profile: 1\nplatform: linux-64\nnvidia: {driver: " + driver +
                                 ", cuda: '" + cuda +
                                 "'}\ngpus: [{vendor: nvidia, architecture: '" + device + "'}]\n",
                             "a.yaml")
            .has_value();
    };
    CHECK(reads("550.54.14", "12.4", "9.0"));
    CHECK(reads("535.104.05", "13.0", "8.0"));  // by cuda-compat
    CHECK(reads("470.57.02", "12.2", "7.0"));
    CHECK(reads("35.4.1", "12.2", "8.7"));  // a Tegra's
    CHECK(reads("580.65.06", "13.0", "12.1"));
    CHECK(reads("550.54.14", "any", "any"));
    CHECK(reads("550.54.14", "12.4", "77.0"));  // newer than what is known
    CHECK_FALSE(reads("470.57.02", "13.0", "7.5"));
    CHECK_FALSE(reads("410.48", "12.0", "7.0"));
    CHECK_FALSE(reads("520.61.05", "11.7", "9.0"));
}

TEST_CASE("a profile that is not there is not found", "[virtual-packages]") {
    const auto read = read_profile("/nonexistent/a.yaml");
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::NotFound);
}

}  // namespace profile_file_test
