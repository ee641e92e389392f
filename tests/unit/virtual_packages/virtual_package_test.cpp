#include "virtual-packages/virtual_package.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace virtual_package_test {
namespace {

using tests::environment;
using tests::Variables;

/// A workstation: zen3, glibc 2.36, kernel 6.1.0; GPUs are added by the tests.
HardwareProfile workstation() {
    HardwareProfile profile;
    profile.platform = "linux-64";
    profile.microarchitecture = Fact{"zen3", "CPUID"};
    profile.glibc = Fact{"2.36", "confstr"};
    profile.linux_ = Fact{"6.1.0", "uname"};
    return profile;
}

GpuDevice nvidia(std::string capability) {
    return {GpuVendor::Nvidia, "", std::move(capability), 0, 0};
}
GpuDevice amd(std::string gfx, std::uint32_t units) {
    return {GpuVendor::Amd, "", std::move(gfx), 0, units};
}

std::string packages_text(const Detection& detection) {
    std::vector<std::string> texts;
    for (const auto& found : detection.packages) texts.push_back(found.package.to_string());
    return fmt::format("{}", fmt::join(texts, " "));
}

std::string text_of(const Detection& detection, std::string_view name) {
    const auto* found = detection.find(name);
    return found == nullptr ? "absent" : found->package.to_string();
}

std::string warnings_text(const Detection& detection) {
    return fmt::format("{}", fmt::join(detection.warnings, "\n"));
}

}  // namespace

TEST_CASE("presence depends on the target", "[virtual-packages]") {
    struct Row {
        std::string target, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"linux-64",          "__archspec=1=zen3 __glibc=2.36=0 __linux=6.1.0=0 __unix=0=0"},
        {"linux-32",          "__archspec=0=x86 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"linux-aarch64",     "__archspec=0=aarch64 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"linux-armv6l",      "__archspec=0=armv6l __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"linux-armv7l",      "__archspec=0=armv7l __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"linux-ppc64",       "__archspec=0=ppc64 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"linux-ppc64le",     "__archspec=0=ppc64le __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"linux-riscv64",     "__archspec=0=riscv64 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"linux-s390x",       "__archspec=0=s390x __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"osx-64",            "__archspec=0=x86_64 __osx=0=0 __unix=0=0"},
        {"osx-arm64",         "__archspec=0=aarch64 __osx=0=0 __unix=0=0"},
        {"win-64",            "__archspec=0=x86_64 __win=10.0=0"},
        {"win-arm64",         "__archspec=0=aarch64 __win=10.0=0"},
        {"freebsd-64",        "__archspec=0=x86_64 __unix=0=0"},
        {"emscripten-wasm32", "__archspec=0=wasm32 __unix=0=0"},
        {"zos-z",             "__archspec=0=z __unix=0=0"},
    }));
    // clang-format on
    CAPTURE(row.target);
    const auto found = virtual_packages_of(workstation(), row.target, environment({}));
    CHECK(packages_text(found) == row.expected);
    CHECK(warnings_text(found).empty());
}

TEST_CASE("overrides win over facts, and say so when they do not count", "[virtual-packages]") {
    struct Row {
        std::string target, variable, value, package, expected, warning;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"linux-64", "ARCHSPEC", "zen4", "__archspec", "__archspec=1=zen4", ""},
        {"linux-64", "ARCHSPEC", "x86_64_v2", "__archspec", "__archspec=1=x86_64_v2", ""},
        {"osx-arm64", "ARCHSPEC", "m2", "__archspec", "__archspec=1=m2", ""},
        {"linux-64", "ARCHSPEC", "neoverse_v1", "__archspec", "__archspec=1=neoverse_v1",
         "CONDA_OVERRIDE_ARCHSPEC=neoverse_v1: not a CPU type for linux-64"},
        {"linux-64", "ARCHSPEC", "", "__archspec", "__archspec=1=zen3",
         "CONDA_OVERRIDE_ARCHSPEC is empty and ignored: the package cannot be absent"},
        {"linux-64", "ARCHSPEC", "zen 4", "__archspec", "__archspec=1=zen3",
         "CONDA_OVERRIDE_ARCHSPEC=zen 4 is ignored: expected a name of at most 64 letters, digits, _, . and +; did you mean zen4?"},
        {"linux-64", "ARCHSPEC", "skylke", "__archspec", "__archspec=1=skylke",
         "CONDA_OVERRIDE_ARCHSPEC=skylke: unknown microarchitecture; did you mean skylake?"},
        {"linux-64", "ARCHSPEC", "diamond_rapids", "__archspec", "__archspec=1=diamond_rapids",
         "CONDA_OVERRIDE_ARCHSPEC=diamond_rapids: unknown microarchitecture; for a newer CPU, use an older one that it is compatible with, e.g. x86_64_v4 or armv8.2a"},

        {"linux-64", "CUDA", "12.4", "__cuda", "__cuda=12.4=0", ""},
        {"linux-64", "CUDA", " 12.4 ", "__cuda", "__cuda=12.4=0", ""},
        {"linux-64", "CUDA", "13", "__cuda", "__cuda=13=0", ""},
        {"linux-64", "CUDA", "", "__cuda", "absent", ""},
        {"linux-64", "CUDA", "yes", "__cuda", "absent",
         "CONDA_OVERRIDE_CUDA=yes is ignored: expected a version such as 12.4, or the word 'any'"},
        {"linux-64", "CUDA", "12.x", "__cuda", "absent",
         "CONDA_OVERRIDE_CUDA=12.x is ignored: expected a version such as 12.4, or the word 'any'"},
        {"linux-64", "CUDA", "12.*", "__cuda", "absent",
         "CONDA_OVERRIDE_CUDA=12.* is ignored: expected a version such as 12.4, or the word 'any'"},
        {"linux-64", "CUDA", ">=12", "__cuda", "absent",
         "CONDA_OVERRIDE_CUDA=>=12 is ignored: expected a version such as 12.4, or the word 'any'"},
        {"linux-64", "CUDA", "535.104", "__cuda", "absent",
         "CONDA_OVERRIDE_CUDA=535.104 is ignored: expected a version such as 12.4, or the word 'any'; driver 535.104 supports CUDA 12.2"},
        {"linux-64", "CUDA", "12..4", "__cuda", "absent",
         "CONDA_OVERRIDE_CUDA=12..4 is ignored: expected a version such as 12.4, or the word 'any'"},

        {"linux-64", "GLIBC", "2.17", "__glibc", "__glibc=2.17=0", ""},
        {"linux-aarch64", "GLIBC", "2.17", "__glibc", "__glibc=2.17=0", ""},
        {"linux-64", "GLIBC", "", "__glibc", "absent", ""},
        {"linux-64", "GLIBC", "new", "__glibc", "__glibc=2.36=0",
         "CONDA_OVERRIDE_GLIBC=new is ignored: expected a version such as 2.28, or the word 'any'"},
        {"osx-64", "GLIBC", "2.17", "__glibc", "absent",
         "CONDA_OVERRIDE_GLIBC=2.17 is ignored: platform osx-64 has no __glibc"},
        {"osx-64", "GLIBC", "", "__glibc", "absent", ""},

        {"linux-64", "LINUX", "5.15", "__linux", "__linux=5.15=0", ""},
        {"linux-64", "LINUX", "5.15.0.1", "__linux", "__linux=5.15.0.1=0", ""},
        {"linux-64", "LINUX", "5", "__linux", "__linux=6.1.0=0",
         "CONDA_OVERRIDE_LINUX=5 is ignored: expected two to four numbers such as 5.15.0, or the word 'any'"},
        {"linux-64", "LINUX", "5.15.0-generic", "__linux", "__linux=6.1.0=0",
         "CONDA_OVERRIDE_LINUX=5.15.0-generic is ignored: expected two to four numbers such as 5.15.0, or the word 'any'"},
        {"linux-64", "LINUX", "5.15.0.1.2", "__linux", "__linux=6.1.0=0",
         "CONDA_OVERRIDE_LINUX=5.15.0.1.2 is ignored: expected two to four numbers such as 5.15.0, or the word 'any'"},
        {"linux-64", "LINUX", "", "__linux", "__linux=6.1.0=0",
         "CONDA_OVERRIDE_LINUX is empty and ignored: the package cannot be absent"},
        {"win-64", "LINUX", "5.15", "__linux", "absent",
         "CONDA_OVERRIDE_LINUX=5.15 is ignored: platform win-64 has no __linux"},

        {"osx-arm64", "OSX", "14.4", "__osx", "__osx=14.4=0", ""},
        {"osx-arm64", "OSX", "", "__osx", "__osx=0=0",
         "CONDA_OVERRIDE_OSX is empty and ignored: the package cannot be absent"},
        {"linux-64", "OSX", "14.4", "__osx", "absent",
         "CONDA_OVERRIDE_OSX=14.4 is ignored: platform linux-64 has no __osx"},
        {"win-64", "WIN", "10.0.19045", "__win", "__win=10.0.19045=0", ""},
        {"win-64", "WIN", "11!", "__win", "__win=10.0=0",
         "CONDA_OVERRIDE_WIN=11! is ignored: expected a version such as 12.4, or the word 'any'"},
        {"linux-64", "UNIX", "9", "__unix", "__unix=0=0",
         "CONDA_OVERRIDE_UNIX=9 is ignored: __unix cannot be overridden"},

        {"linux-64", "AMDGPU", "0", "__amdgpu", "__amdgpu=0=0", ""},
        {"linux-64", "AMDGPU", "", "__amdgpu", "absent", ""},
        {"linux-64", "AMDGPU", "1", "__amdgpu", "absent",
         "CONDA_OVERRIDE_AMDGPU=1 is ignored: expected 0 for present or nothing for absent"},
        {"linux-64", "AMDGPU_ARCH", "9.0.10", "__amdgpu_arch", "absent",
         "CONDA_OVERRIDE_AMDGPU_ARCH=9.0.10 is ignored: __amdgpu is missing (set CONDA_OVERRIDE_AMDGPU=0)"},
        {"linux-64", "ROCM", "6.4", "__rocm", "__rocm=6.4=0", ""},
        {"linux-64", "ROCM", "", "__rocm", "absent", ""},
    }));
    // clang-format on
    CAPTURE(row.target, row.variable, row.value);
    const auto variable = "CONDA_OVERRIDE_" + row.variable;
    const auto found =
        virtual_packages_of(workstation(), row.target, environment({{variable, row.value}}));
    CHECK(text_of(found, row.package) == row.expected);
    CHECK(warnings_text(found) == row.warning);
    if (found.find(row.package) != nullptr && row.warning.empty())
        CHECK(found.find(row.package)->source == variable);
}

TEST_CASE("__cuda_arch is the lowest capability, and never without __cuda", "[virtual-packages]") {
    struct Row {
        std::string driver;
        std::vector<std::string> devices;
        Variables variables;
        std::string cuda, arch, warning;
    };
    const std::string kCuda = "CONDA_OVERRIDE_CUDA";
    const std::string kArch = "CONDA_OVERRIDE_CUDA_ARCH";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"12.4", {"9.0", "7.5"}, {}, "__cuda=12.4=0", "__cuda_arch=7.5=0", ""},
        {"12.8", {"12.0", "9.0", "10.0"}, {}, "__cuda=12.8=0", "__cuda_arch=9.0=0", ""},
        {"12.4", {}, {}, "__cuda=12.4=0", "absent", ""},
        {"12.4", {}, {{kArch, "8.6"}}, "__cuda=12.4=0", "__cuda_arch=8.6=0", ""},
        {"12.4", {"9.0"}, {{kArch, "8.6"}}, "__cuda=12.4=0", "__cuda_arch=8.6=0", ""},
        {"", {}, {{kArch, "8.6"}}, "absent", "absent",
         "CONDA_OVERRIDE_CUDA_ARCH=8.6 is ignored: __cuda is missing (set CONDA_OVERRIDE_CUDA)"},
        {"", {}, {{kArch, "8.6"}, {kCuda, "12.0"}}, "__cuda=12.0=0", "__cuda_arch=8.6=0", ""},
        {"", {}, {{kCuda, "12.4"}}, "__cuda=12.4=0", "absent", ""},
        {"12.4", {"9.0"}, {{kCuda, "11.8"}}, "__cuda=11.8=0", "__cuda_arch=9.0=0", ""},
        {"12.4", {"9.0"}, {{kCuda, ""}}, "absent", "absent", ""},
        {"12.4", {"9.0"}, {{kCuda, ""}, {kArch, "8.6"}}, "absent", "absent",
         "CONDA_OVERRIDE_CUDA_ARCH=8.6 is ignored: __cuda is missing (set CONDA_OVERRIDE_CUDA)"},
        {"12.4", {"9.0"}, {{kArch, "9.0a"}}, "__cuda=12.4=0", "__cuda_arch=9.0=0",
         "CONDA_OVERRIDE_CUDA_ARCH=9.0a is ignored: expected a compute capability such as 8.6, or the word 'any'"},
        {"12.4", {"9.0"}, {{kArch, "90"}}, "__cuda=12.4=0", "__cuda_arch=9.0=0",
         "CONDA_OVERRIDE_CUDA_ARCH=90 is ignored: expected a compute capability such as 8.6, or the word 'any'"},
        {"12.4", {"9.0"}, {{kArch, ""}}, "__cuda=12.4=0", "absent", ""},
    }));
    // clang-format on
    CAPTURE(row.driver, row.devices, row.variables);
    auto profile = workstation();
    if (!row.driver.empty()) profile.cuda = Fact{row.driver, "libcuda.so.1 cuDriverGetVersion"};
    for (const auto& device : row.devices) profile.gpus.push_back(nvidia(device));

    const auto found = virtual_packages_of(profile, "linux-64", environment(row.variables));
    CHECK(text_of(found, "__cuda") == row.cuda);
    CHECK(text_of(found, "__cuda_arch") == row.arch);
    CHECK(warnings_text(found) == row.warning);
}

TEST_CASE("__amdgpu_arch is that of the device with the most compute units", "[virtual-packages]") {
    struct Row {
        std::vector<GpuDevice> devices;
        Variables variables;
        std::string expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {{amd("gfx90a", 110), amd("gfx942", 304)}, {}, "__amdgpu=0=0 __amdgpu_arch=9.4.2=0"},
        {{amd("gfx1100", 96), amd("gfx1151", 40)}, {}, "__amdgpu=0=0 __amdgpu_arch=11.0.0=0"},
        {{amd("gfx90a", 0), amd("gfx942", 0)}, {}, "__amdgpu=0=0 __amdgpu_arch=9.4.2=0"},
        {{amd("gfx90a", 110), nvidia("12.0")}, {}, "__amdgpu=0=0 __amdgpu_arch=9.0.10=0"},
        {{}, {}, "__amdgpu=0=0"},
        {{amd("gfx90a", 110)}, {{"CONDA_OVERRIDE_AMDGPU_ARCH", "11.0.0"}}, "__amdgpu=0=0 __amdgpu_arch=11.0.0=0"},
        {{amd("gfx90a", 110)}, {{"CONDA_OVERRIDE_AMDGPU_ARCH", "gfx1100"}}, "__amdgpu=0=0 __amdgpu_arch=9.0.10=0"},
        {{amd("gfx90a", 110)}, {{"CONDA_OVERRIDE_AMDGPU_ARCH", ""}}, "__amdgpu=0=0"},
        {{amd("gfx90a", 110)}, {{"CONDA_OVERRIDE_AMDGPU", ""}}, ""},
    }));
    // clang-format on
    auto profile = workstation();
    profile.amdgpu = Fact{"", "sysfs"};
    profile.gpus = row.devices;
    auto found = virtual_packages_of(profile, "linux-64", environment(row.variables));
    std::erase_if(found.packages, [](const auto& package) {
        return !package.package.name.starts_with("__amdgpu");
    });
    CHECK(packages_text(found) == row.expected);
}

TEST_CASE("what detectors found is handed on, and can be overridden", "[virtual-packages]") {
    struct Row {
        std::string value, found, absent, warning;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"unset", "__level_zero=1.3=b", "absent", ""},
        {"1.6", "__level_zero=1.6=0", "__level_zero=1.6=0", ""},
        {"any", "__level_zero=any=0", "__level_zero=any=0", ""},
        {"", "absent", "absent", ""},
        {"new", "__level_zero=1.3=b", "absent",
         "CONDA_OVERRIDE_LEVEL_ZERO=new is ignored: expected a version such as 12.4, or the word 'any'"},
    }));
    // clang-format on
    CAPTURE(row.value);
    const auto env = row.value == "unset" ? environment({})
                                          : environment({{"CONDA_OVERRIDE_LEVEL_ZERO", row.value}});
    auto profile = workstation();
    profile.others.push_back({{"__level_zero", "1.3", "b"}, "level-zero.yaml"});
    const auto here = virtual_packages_of(profile, "linux-64", env);
    CHECK(text_of(here, "__level_zero") == row.found);
    CHECK(warnings_text(here) == row.warning);
    // Where nothing was found, it can be overridden if a detector may find it.
    const auto detectable = virtual_packages_of(workstation(), "linux-64", env, {"__level_zero"});
    CHECK(text_of(detectable, "__level_zero") == row.absent);
    const auto unknown = virtual_packages_of(workstation(), "linux-64", env);
    CHECK(text_of(unknown, "__level_zero") == "absent");
}

TEST_CASE("overrides that are set are told, whatever they do", "[virtual-packages]") {
    const auto found = virtual_packages_of(workstation(),
                                           "linux-64",
                                           environment({{"CONDA_OVERRIDE_ARCHSPEC", ""},
                                                        {"CONDA_OVERRIDE_CUDA", ""},
                                                        {"CONDA_OVERRIDE_CUDA_ARCH", ""},
                                                        {"CONDA_OVERRIDE_GLIBC", " 2.17 "},
                                                        {"CONDA_OVERRIDE_LINUX", "new"},
                                                        {"CONDA_OVERRIDE_OSX", "14"},
                                                        {"CONDA_OVERRIDE_UNIX", ""}}));
    std::string text;
    for (const auto& [variable, value, effect, what] : found.overrides)
        text += fmt::format("{}={}: {}{}\n",
                            variable.substr(15),
                            value,
                            effect == OverrideEffect::None ? "no effect: " : "",
                            what);
    CHECK(text ==
          "ARCHSPEC=: no effect: the package cannot be absent\n"
          "LINUX=new: no effect: expected two to four numbers such as 5.15.0, or the word 'any'\n"
          "GLIBC=2.17: __glibc is 2.17\n"
          "OSX=14: no effect: platform linux-64 has no __osx\n"
          "UNIX=: no effect: __unix cannot be overridden\n"
          "CUDA=: no __cuda\n"
          "CUDA_ARCH=: no effect: __cuda is missing (set CONDA_OVERRIDE_CUDA)\n");
}

TEST_CASE("a machine whose C library is another one has no __glibc", "[virtual-packages]") {
    auto profile = workstation();
    profile.glibc = Fact{"", "the C library of this machine"};
    CHECK(text_of(virtual_packages_of(profile, "linux-64", environment({})), "__glibc") ==
          "absent");
    // What is unknown gets the default, what is another platform as well.
    profile.glibc.reset();
    profile.linux_.reset();
    profile.microarchitecture.reset();
    const auto found = virtual_packages_of(profile, "linux-64", environment({}));
    CHECK(packages_text(found) == "__archspec=0=x86_64 __glibc=2.28=0 __linux=4.18=0 __unix=0=0");
    CHECK(found.find("__glibc")->source == "gpkg default");
}

TEST_CASE("a profile of another system speaks for targets of its own", "[virtual-packages]") {
    HardwareProfile mac;
    mac.platform = "osx-arm64";
    mac.microarchitecture = Fact{"m2", "mac.yaml"};
    mac.osx = Fact{"14.4", "mac.yaml"};
    CHECK(packages_text(virtual_packages_of(mac, "osx-arm64", environment({}))) ==
          "__archspec=1=m2 __osx=14.4=0 __unix=0=0");
    CHECK(packages_text(virtual_packages_of(mac, "osx-64", environment({}))) ==
          "__archspec=0=x86_64 __osx=0=0 __unix=0=0");
}

TEST_CASE("a machine's GPUs and detectors say nothing of targets of other platforms",
          "[virtual-packages]") {
    auto profile = workstation();
    profile.cuda = Fact{"12.4", "libcuda"};
    profile.gpus = {nvidia("9.0")};
    profile.others.push_back({{"__level_zero", "1.3", "b"}, "level-zero.yaml"});
    CHECK(packages_text(virtual_packages_of(profile, "linux-aarch64", environment({}))) ==
          "__archspec=0=aarch64 __glibc=2.28=0 __linux=4.18=0 __unix=0=0");
    CHECK(packages_text(virtual_packages_of(
              profile, "linux-aarch64", environment({{"CONDA_OVERRIDE_CUDA", "12.8"}}))) ==
          "__archspec=0=aarch64 __cuda=12.8=0 __glibc=2.28=0 __linux=4.18=0 __unix=0=0");
}

TEST_CASE("a solver takes the packages as records", "[virtual-packages]") {
    const auto records = virtual_packages_of(workstation(), "linux-64", environment({})).records();
    REQUIRE(records.size() == 4);
    CHECK(records[0].distribution() == "__archspec-1-zen3");
    CHECK(records[1].distribution() == "__glibc-2.36-0");
    CHECK(records[1].build_number == 0);
}

}  // namespace virtual_package_test
