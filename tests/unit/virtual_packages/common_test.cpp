#include "virtual-packages/common.hpp"

#include "tests/support/catch.hpp"
#include "virtual-packages/site_names.hpp"

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace common_test {
namespace {

HardwareProfile profile(const std::string& text) {
    return parse_profile("gpkg_profile: 1\nplatform: linux-64\n" + text, "test").value();
}

/// Without its first three lines, which all have.
std::string common(const std::vector<HardwareProfile>& machines) {
    const auto found = common_profile(machines);
    if (!found) return "none";
    const auto text = format_profile(*found);
    REQUIRE(parse_profile(text, "common"));  // it can be true of one machine
    return text.substr(text.find("linux-64\n") + 9);
}

HardwareProfile with_gpu(const std::string& vendor,
                         const std::string& architecture,
                         const std::string& name = "''") {
    return profile((vendor == "amd" ? "amd: {driver: present}" : "nvidia: {cuda: '12.4'}") +
                   std::string("\ngpus: [{vendor: ") + vendor + ", architecture: '" + architecture +
                   "', name: " + name + "}]\n");
}

std::string named(const std::vector<std::string>& features,
                  const std::vector<std::string>& gpus,
                  const std::string& platform = "linux-64") {
    const auto parts = profile_of_names(platform, features, gpus);
    REQUIRE(parse_profile(format_profile(parts.profile), "named"));
    std::string text = parts.profile.platform;
    if (parts.profile.microarchitecture) text += " " + parts.profile.microarchitecture->value;
    for (const auto& gpu : parts.profile.gpus) text += " " + gpu.architecture;
    if (parts.profile.cuda) text += " cuda " + parts.profile.cuda->value;
    for (const auto& type : parts.unread) text += " ?" + type;
    return text;
}

}  // namespace

TEST_CASE("what machines have in common is the least of each", "[common]") {
    const auto zen4 = profile(
        "cpu: {model: A, microarchitecture: zen4}\n"
        "system: {glibc: '2.36', linux: 6.1.0}\n");
    const auto skylake = profile(
        "cpu: {model: B, microarchitecture: skylake_avx512}\n"
        "system: {glibc: '2.9', linux: 5.14.0}\n");
    CHECK(common({zen4}) ==
          "cpu:\n  model: A\n  microarchitecture: zen4\nsystem:\n  glibc: \"2.36\"\n  linux: "
          "6.1.0\n");
    CHECK(common({zen4, skylake}) ==
          "cpu:\n  microarchitecture: x86_64_v4\nsystem:\n  glibc: \"2.9\"\n  linux: 5.14.0\n");
    // What is not known of one is not known of all; a C library is not another one's version.
    CHECK(common({zen4, profile("")}).empty());
    CHECK(common({zen4, profile("system: {glibc: none}\n")}).empty());
    CHECK(common({}) == "none");
    CHECK(common({zen4, parse_profile("gpkg_profile: 1\nplatform: linux-aarch64\n", "").value()}) ==
          "none");
}

TEST_CASE("GPUs that machines have in common", "[common]") {
    const auto gpu = [](const std::string& cuda, const std::string& architecture) {
        return profile("nvidia: {driver: 550.54.14, cuda: '" + cuda +
                       "'}\ngpus: [{vendor: nvidia, architecture: '" + architecture + "'}]\n");
    };
    CHECK(common({gpu("12.4", "9.0"), gpu("12.10", "8.6"), gpu("any", "10.0")}) ==
          "nvidia:\n  driver: 550.54.14\n  cuda: \"12.4\"\ngpus:\n  - vendor: nvidia\n    "
          "architecture: \"8.6\"\n");
    // One without a GPU, and one without a driver.
    CHECK(common({gpu("12.4", "9.0"), profile("nvidia: {cuda: '12.2'}\n")}) ==
          "nvidia:\n  cuda: \"12.2\"\n");
    CHECK(common({gpu("12.4", "9.0"), profile("")}).empty());
    const auto amd = [](const std::string& target) {
        return profile("amd: {driver: present, rocm: 6.4.1}\ngpus: [{vendor: amd, architecture: " +
                       target + ", compute_units: 110}]\n");
    };
    CHECK(common({amd("gfx90a"), amd("gfx90a")}) ==
          "amd:\n  driver: present\n  rocm: 6.4.1\ngpus:\n  - vendor: amd\n    architecture: "
          "gfx90a\n    compute_units: 110\n");
    CHECK(common({amd("gfx90a"), amd("gfx942")}) == "amd:\n  driver: present\n  rocm: 6.4.1\n");
    // What detectors found.
    const auto found = [](const std::string& version) {
        return profile("virtual_packages: [{name: __level_zero, version: '" + version + "'}]\n");
    };
    CHECK(common({found("1.6"), found("1.10")}) ==
          "virtual_packages:\n  - name: __level_zero\n    version: \"1.6\"\n");
    CHECK(common({found("1.6"), profile("")}).empty());
    CHECK(common({profile("known_by: names\norigin: x\n"), profile("")}) == "known_by: names\n");
}

TEST_CASE("what names tell of a machine", "[common]") {
    CHECK(named({}, {}) == "linux-64");
    CHECK(named({"infiniband", "rack7", "gpu", "x86-64-v3"}, {}) == "linux-64 x86_64_v3");
    CHECK(named({"avx512", "ZEN4", "x86_64_v3"}, {}) == "linux-64 zen4");
    CHECK(named({"m1", "power9", "neoverse_v2"}, {}) == "linux-64");
    CHECK(named({}, {"nvidia_a100_80gb_pcie"}) == "linux-64 8.0 cuda 12.8");
    CHECK(named({}, {"NVIDIA_H100_80GB_HBM3"}) == "linux-64 9.0 cuda 12.8");
    CHECK(named({}, {"tesla_v100-sxm2-16gb"}) == "linux-64 7.0 cuda 12.8");
    CHECK(named({}, {"rtx_4090"}) == "linux-64 8.9 cuda 12.8");
    CHECK(named({}, {"a100_3g.20gb"}) == "linux-64 8.0 cuda 12.8");
    CHECK(named({}, {"mi250x"}) == "linux-64 gfx90a");
    CHECK(named({"a100"}, {}) == "linux-64 8.0 cuda 12.8");
    CHECK(named({"a100"}, {"h100"}) == "linux-64 9.0 cuda 12.8");
    CHECK(named({"cuda12.4"}, {"a100", "t4"}) == "linux-64 8.0 7.5 cuda 12.4");
    CHECK(named({"cuda-11"}, {"a100"}) == "linux-64 8.0 cuda 11.0");
    CHECK(named({"cuda12.4", "cudagraphs"}, {}) == "linux-64");
    CHECK(named({}, {"gh200"}) == "linux-aarch64 9.0 cuda 12.8");
    CHECK(named({}, {"1g.5gb", "../a100"}) == "linux-64 8.0 cuda 12.8 ?1g.5gb");
}

TEST_CASE("GPUs that a machine is said to have and that cannot be seen", "[common]") {
    const auto lack = [](const std::vector<std::string>& types, const HardwareProfile& seen) {
        return lack_of_gpu(profile_of_names("linux-64", {}, types).profile, seen).value_or("");
    };
    const auto nvidia = with_gpu("nvidia", "8.0");
    const auto amd = with_gpu("amd", "gfx942");
    const auto both = profile(
        "nvidia: {cuda: '12.4'}\namd: {driver: present}\n"
        "gpus: [{vendor: nvidia, architecture: '8.0'}, {vendor: amd, architecture: gfx1036}]\n");
    CHECK(lack({"a100"}, nvidia).empty());
    CHECK(lack({"mi300x"}, amd).empty());
    CHECK(lack({"a100", "mi300x"}, both).empty());
    CHECK(lack({"a100"}, profile("")) == "no NVIDIA GPU: the driver does not respond");
    CHECK(lack({"a100"}, profile("nvidia: {driver: 550.54.14}\n")) ==
          "no NVIDIA GPU: driver 550.54.14 does not respond");
    CHECK(lack({"a100"}, profile("nvidia: {cuda: '12.4'}\n")) ==
          "no NVIDIA GPU: the driver, for CUDA 12.4, lists none");
    CHECK(lack({"mi300x"}, profile("")) == "no AMD GPU: the driver does not respond");
    CHECK(lack({"mi300x"}, profile("amd: {driver: present}\n")) ==
          "no AMD GPU: the driver offers none for computing");
    // One vendor's GPU, as a processor may have, does not stand for the other's.
    CHECK(lack({"a100"}, amd) == "no NVIDIA GPU: the driver does not respond");
    CHECK(lack({"a100", "mi300x"}, nvidia) == "no AMD GPU: the driver does not respond");
    // Of what gpkg does not know the name any will do.
    for (const auto& types : {std::vector<std::string>{}, {"house"}}) {
        CHECK(lack(types, nvidia).empty());
        CHECK(lack(types, profile("gpus: [{vendor: intel}]\n")).empty());
        CHECK(lack(types, profile("")) == "no GPU: no driver responds");
        CHECK(lack(types, profile("nvidia: {cuda: '12.4'}\n")) ==
              "no NVIDIA GPU: the driver, for CUDA 12.4, lists none");
    }
}

TEST_CASE("GPUs that are of other models than their names say", "[common]") {
    const auto others = [](const std::vector<std::string>& types, const HardwareProfile& seen) {
        return other_models(types, seen);
    };
    const std::vector<std::string> none;
    const auto h100 = with_gpu("nvidia", "9.0", "NVIDIA H100 80GB HBM3");
    CHECK(others({"nvidia_h100_80gb_hbm3"}, h100) == none);
    CHECK(others({"a100"}, h100) == std::vector<std::string>{"NVIDIA H100 80GB HBM3"});
    // Of one architecture, and both have a name that gpkg knows.
    CHECK(others({"h200"}, h100) == std::vector<std::string>{"NVIDIA H100 80GB HBM3"});
    CHECK(others({"h200"}, with_gpu("nvidia", "9.0", "NVIDIA H20")) == none);
    CHECK(others({"rtx_3090"}, with_gpu("nvidia", "8.6", "NVIDIA GeForce RTX 3090")) == none);
    // AMD's have none.
    CHECK(others({"mi300x"}, with_gpu("amd", "gfx942")) == none);
    CHECK(others({"mi300"}, with_gpu("amd", "gfx942")) == none);
    CHECK(others({"mi300x"}, with_gpu("amd", "gfx90a")) ==
          std::vector<std::string>{"a gfx90a GPU"});
    // A type may be whatever the site means by it.
    CHECK(others({"house"}, h100) == none);
    CHECK(others({"a100", "house"}, h100) == none);
    CHECK(others({}, h100) == none);
    // Fewer than were said, a card for a screen beside, and what another vendor has.
    CHECK(others({"a100", "h100"}, h100) == none);
    const auto with_screen = profile(
        "nvidia: {cuda: '12.4'}\namd: {driver: present}\ngpus: [{vendor: nvidia, architecture: "
        "'8.0', name: NVIDIA A100-SXM4-80GB}, {vendor: nvidia, architecture: '7.5', name: T400}, "
        "{vendor: amd, architecture: gfx1036}]\n");
    CHECK(others({"a100"}, with_screen) == none);
    CHECK(others({"l4"}, with_screen) == std::vector<std::string>{"NVIDIA A100-SXM4-80GB", "T400"});
}

}  // namespace common_test
