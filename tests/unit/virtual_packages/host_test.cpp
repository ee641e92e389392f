#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace host_test {
namespace {

std::string lines_of(const Detection& detection) {
    std::string text;
    for (const auto& [package, source] : detection.packages)
        text += fmt::format("{} ({})\n", package.to_string(), source);
    for (const auto& warning : detection.warnings) text += "! " + warning + "\n";
    return text;
}

}  // namespace

TEST_CASE("a plain machine shows its system, and where each value came from",
          "[virtual-packages]") {
    const tests::Machine machine;
    CHECK(lines_of(detect_all(machine.host)) ==
          "__archspec=0=x86_64 (the target platform)\n"
          "__glibc=2.36=0 (confstr _CS_GNU_LIBC_VERSION)\n"
          "__linux=6.8.0=0 (uname)\n"
          "__unix=0=0 (the target platform)\n");
}

TEST_CASE("__linux is the mainline part of the kernel release", "[virtual-packages]") {
    struct Row {
        std::string release, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"6.8.0-45-generic", "6.8.0"},
        {"6.1.0-18-amd64", "6.1.0"},
        {"5.15.167.4-microsoft-standard-WSL2", "5.15.167.4"},
        {"4.18.0-553.el8_10.x86_64", "4.18.0"},
        {"3.10.0-1160.119.1.el7.x86_64", "3.10.0"},
        {"6.12.0+", "6.12.0"},
        {"6.6-rc1", "6.6"},
        {"5.10.1.2.3.4", "5.10.1.2"},
        {"6.1.", "6.1"},
        {"6", "4.18"},
        {"v6.1", "4.18"},
        {"", "4.18"},
    }));
    // clang-format on
    CAPTURE(row.release);
    tests::Machine machine;
    machine.host.kernel_release = row.release;
    const auto found = detect_all(machine.host);
    CHECK(found.find("__linux")->package.version == row.expected);
    CHECK(found.warnings.size() == (row.expected == "4.18" && !row.release.empty() ? 1 : 0));
}

TEST_CASE("__glibc keeps two numbers", "[virtual-packages]") {
    tests::Machine machine;
    machine.host.glibc = "2.36.9000-development";
    CHECK(detect_all(machine.host).find("__glibc")->package.version == "2.36");
    machine.host.glibc = "unreadable";
    CHECK(detect_all(machine.host).find("__glibc")->package.version == "2.28");
    machine.host.glibc.reset();
    CHECK(detect_all(machine.host).find("__glibc") == nullptr);
}

TEST_CASE("a machine with AMD GPUs shows them", "[virtual-packages]") {
    tests::Machine machine;
    machine.file("sys/class/kfd/kfd/topology/nodes/1/properties",
                 "simd_count 440\nsimd_per_cu 4\ngfx_target_version 90010\n");
    machine.file("dev/kfd", "");
    machine.file("opt/rocm/.info/version", "6.4.1-83\n");
    const auto found = lines_of(detect_all(machine.host));
    CHECK_THAT(
        found,
        ContainsSubstring("__amdgpu=0=0 (/sys/class/kfd/kfd/topology/nodes)\n"
                          "__amdgpu_arch=9.0.10=0 (the device with the most compute units)\n"));
    CHECK_THAT(found, ContainsSubstring("__rocm=6.4.1=0 (/opt/rocm/.info/version)\n"));
}

TEST_CASE("a C library tells its version", "[virtual-packages]") {
    struct Row {
        std::string text;
        std::optional<std::string> expected;
    };
    // The lines are those of the libraries that distributions ship.
    const auto row = GENERATE(values<Row>({
        {"GNU C Library (GNU libc) stable release version 2.28.\nCopyright", "2.28"},
        {"x GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\n", "2.36"},
        {"GNU C Library (Ubuntu GLIBC 2.27-3ubuntu1.6) stable release version 2.27.\n", "2.27"},
        {"GNU C Library stable release version 2.17, by Roland McGrath et al.\n", "2.17"},
        {"GNU C Library (GNU libc) development release version 2.40.9000.\n", "2.40.9000"},
        {"GNU C Library (GNU libc) release", std::nullopt},
        {"musl libc (x86_64)", std::nullopt},
    }));
    CAPTURE(row.text);
    CHECK(glibc_version_in(row.text) == row.expected);
}

TEST_CASE("this machine's C library says what the running one says", "[virtual-packages]") {
    const auto host = this_machine();
    REQUIRE(host.glibc);
    const fs::path loader = fs::canonical("/lib64/ld-linux-x86-64.so.2");
    const auto bytes = read_file(loader.parent_path() / "libc.so.6");
    REQUIRE(bytes);
    CHECK(glibc_version_in(*bytes) == host.glibc);
}

}  // namespace host_test
