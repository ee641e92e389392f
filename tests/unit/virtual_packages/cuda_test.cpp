#include "virtual-packages/cuda.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>

using namespace gpkg;
using namespace gpkg::virtual_packages;
using namespace std::chrono_literals;

namespace cuda_test {
namespace {

/// A machine with traces of NVIDIA's kernel driver, whose library is the fake one told so.
class NvidiaMachine : public tests::Machine {
public:
    explicit NvidiaMachine(std::vector<std::string> settings = {}) {
        file("proc/driver/nvidia/version", "NVRM version: 550.54.15\n");
        file("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
        file("dev/nvidia0", "");
        host.cuda.libraries = {GPKG_TEST_LIBCUDA};
        host.cuda.limit = 20s;
        settings_are(std::move(settings));
    }

    void settings_are(std::vector<std::string> settings) {
        host.cuda.program = {"/usr/bin/env"};
        for (auto& setting : settings) host.cuda.program.push_back(std::move(setting));
        host.cuda.program.emplace_back(GPKG_TEST_CUDA_PROBE);
    }
};

std::string devices_text(const CudaReport& report) {
    std::vector<std::string> texts;
    for (const auto& gpu : report.devices)
        texts.push_back(fmt::format("{} {} MiB {}", gpu.architecture, gpu.memory_mib, gpu.name));
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string warnings_text(const CudaReport& report) {
    return fmt::format("{}", fmt::join(report.warnings, "\n"));
}

const std::string kLibrary = GPKG_TEST_LIBCUDA;

}  // namespace

TEST_CASE("the driver's answers", "[virtual-packages]") {
    struct Row {
        std::vector<std::string> settings;
        int driver;
        std::string devices, warning;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {{}, 12040, "9.0 81559 MiB NVIDIA H100 80GB HBM3", ""},
        {{"FAKE_CUDA_VERSION=13020", "FAKE_CUDA_DEVICES=9.0:81559:NVIDIA H100,7.5:15109:Tesla T4"}, 13020,
         "9.0 81559 MiB NVIDIA H100; 7.5 15109 MiB Tesla T4", ""},
        {{"FAKE_CUDA_DEVICES="}, 12040, "", ""},
        {{"FAKE_CUDA_INIT=100"}, 12040, "", ""},
        // Hidden devices are there all the same.
        {{"CUDA_VISIBLE_DEVICES="}, 12040, "9.0 81559 MiB NVIDIA H100 80GB HBM3", ""},
        // Whatever order a shell asks for, it is nvidia-smi's.
        {{"CUDA_DEVICE_ORDER=FASTEST_FIRST"}, 12040, "9.0 81559 MiB NVIDIA H100 80GB HBM3", ""},
        // What the driver prints is not taken for the probe's answer.
        {{"FAKE_CUDA_DO=chatter"}, 12040, "9.0 81559 MiB NVIDIA H100 80GB HBM3", ""},
        {{"FAKE_CUDA_DEVICES=8.6:1:A\nend\ndriver 99990"}, 12040, "8.6 1 MiB A?end?driver 99990", ""},
        {{"FAKE_CUDA_INIT=803"}, 12040, "",
         kLibrary + ": cuInit returned 803 (the driver's kernel module and library differ: a reboot loads the new one): no device can be used"},
        {{"FAKE_CUDA_INIT=999"}, 12040, "",
         kLibrary + ": cuInit returned 999 (unknown error): no device can be used"},
        {{"FAKE_CUDA_DEVICES=9.0:81559:NVIDIA H100,fail"}, 12040, "9.0 81559 MiB NVIDIA H100",
         kLibrary + ": only 1 of 2 devices responded"},
        {{"FAKE_CUDA_VERSION=0"}, 0, "",
         kLibrary + ": claims the implausible CUDA version 0; ignored"},
        {{"FAKE_CUDA_VERSION=999999"}, 0, "",
         kLibrary + ": claims the implausible CUDA version 999999; ignored"},
        {{"FAKE_CUDA_DO=crash-version"}, 0, "",
         "the CUDA driver crashed (Aborted) before it reported its version; set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead"},
        {{"FAKE_CUDA_DO=crash-init"}, 12040, "",
         "the CUDA driver " + kLibrary + " crashed (Aborted) in cuInit: its devices are unknown; set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead"},
        {{"FAKE_CUDA_DO=exit-version"}, 0, "",
         "the CUDA driver exited with status 0 before it reported its version; set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead"},
        {{"FAKE_CUDA_DO=exit-init"}, 12040, "",
         "the CUDA driver " + kLibrary + " exited with status 3 in cuInit: its devices are unknown; set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead"},
    }));
    // clang-format on
    CAPTURE(row.settings);
    const NvidiaMachine machine(row.settings);
    const auto report = probe_cuda(machine.host);
    CHECK(report.driver.value_or(0) == row.driver);
    CHECK(devices_text(report) == row.devices);
    CHECK(warnings_text(report) == row.warning);
    CHECK(report.library == (row.driver == 0 ? "" : kLibrary));
}

TEST_CASE("a driver that hangs is left alone after the limit", "[virtual-packages]") {
    struct Row {
        std::string what;
        std::chrono::milliseconds limit;
        int driver;
        std::string devices, warning;
    };
    const std::string tail = "; set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"hang-version", 300ms, 0, "",
         "the CUDA driver did not respond within 0.3 s and was abandoned before it reported its version; set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead"},
        {"hang-init", 2s, 12040, "",
         "the CUDA driver " + kLibrary + " did not respond within 2 s and was abandoned in cuInit: its devices are unknown" + tail},
        {"hang-device", 2s, 12040, "9.0 1 MiB A",
         "the CUDA driver " + kLibrary + " did not respond within 2 s and was abandoned while listing its devices: only 1 of its devices is known" + tail},
    }));
    // clang-format on
    CAPTURE(row.what);
    NvidiaMachine machine({"FAKE_CUDA_DO=" + row.what, "FAKE_CUDA_DEVICES=9.0:1:A,8.0:1:B"});
    machine.host.cuda.limit = row.limit;
    machine.host.cuda.cache_folder = machine.scratch() / "cache";
    const auto start = std::chrono::steady_clock::now();
    const auto report = probe_cuda(machine.host);
    CHECK(std::chrono::steady_clock::now() - start < row.limit + 3s);
    CHECK(report.driver.value_or(0) == row.driver);
    CHECK(devices_text(report) == row.devices);
    CHECK(warnings_text(report) == row.warning);

    // It is not asked again at once: each time a process may stay behind that nobody can end.
    auto& host = machine.host;
    const auto first = host.now();
    const auto again = probe_cuda(host);
    CHECK(again.from_cache);
    CHECK(again.driver == report.driver);
    CHECK(devices_text(again) == row.devices);
    CHECK(warnings_text(again) == row.warning + "; retried after two minutes");
    host.now = [=] { return first + 3min; };
    host.cuda.program = {"/nonexistent/gpkg"};
    CHECK_THAT(warnings_text(probe_cuda(host)), ContainsSubstring("cannot start the CUDA probe"));
}

TEST_CASE("a process that the driver leaves behind is not waited for", "[virtual-packages]") {
    const NvidiaMachine machine({"FAKE_CUDA_DO=helper"});
    const auto start = std::chrono::steady_clock::now();
    const auto report = probe_cuda(machine.host);
    CHECK(std::chrono::steady_clock::now() - start < 10s);
    CHECK(report.devices.size() == 1);
    CHECK(warnings_text(report).empty());
}

TEST_CASE("libraries are tried in order until one is a driver", "[virtual-packages]") {
    NvidiaMachine machine;
    const std::string stub = GPKG_TEST_LIBCUDA_STUB;
    const auto broken = (machine.scratch() / "libcuda.so.1").native();
    REQUIRE(write_file_atomically(broken, "not a library at all"));

    machine.host.cuda.libraries = {
        "/nonexistent/libcuda.so.1", stub, "libm.so.6", broken, GPKG_TEST_LIBCUDA};
    auto report = probe_cuda(machine.host);
    CHECK(report.driver == 12040);
    CHECK(report.library == kLibrary);
    CHECK(warnings_text(report).empty());

    machine.host.cuda.libraries.pop_back();
    report = probe_cuda(machine.host);
    CHECK_FALSE(report.driver);
    REQUIRE(report.warnings.size() == 3);
    CHECK(report.warnings[0] == stub + ": is a stub library (error 34); ignored");
    CHECK(report.warnings[1] == "libm.so.6: has no cuDriverGetVersion; ignored");
    CHECK_THAT(report.warnings[2], ContainsSubstring(broken + ": "));
    CHECK_THAT(report.warnings[2], ContainsSubstring("file too short"));

    machine.host.cuda.libraries = {"/nonexistent/libcuda.so.1"};
    report = probe_cuda(machine.host);
    CHECK_FALSE(report.driver);
    CHECK(warnings_text(report).empty());
}

TEST_CASE("the loader finds the library by LD_LIBRARY_PATH", "[virtual-packages]") {
    NvidiaMachine machine(
        {"LD_LIBRARY_PATH=" + fs::path(GPKG_TEST_LIBCUDA).parent_path().native()});
    machine.host.cuda.libraries = {"libcuda.so.1"};
    const auto report = probe_cuda(machine.host);
    CHECK(report.driver == 12040);
    CHECK(report.library == kLibrary);
}

TEST_CASE("what is no probe costs a warning", "[virtual-packages]") {
    struct Row {
        std::vector<std::string> program;
        std::string warning;
    };
    const std::string say = "; set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {{"/nonexistent/gpkg", "__probe-cuda"},
         "/nonexistent/gpkg: cannot start the CUDA probe: No such file or directory" + say},
        {{"/bin/true"}, "/bin/true: not a CUDA probe: it exited with status 0 without output" + say},
        {{"/bin/false"}, "/bin/false: not a CUDA probe: it exited with status 1 without output" + say},
        {{"/bin/sh", "-c", "echo usage: gpkg COMMAND; echo driver banana; exit 2"},
         "unexpected output of the CUDA probe: \"usage: gpkg COMMAND\"\n"
         "/bin/sh: not a CUDA probe: it exited with status 2 without output" + say},
        {{"/bin/sh", "-c", "echo driver 1; echo end"},
         "unexpected output of the CUDA probe: \"driver 1\""},
        {{"/bin/sh", "-c", "yes | head -c 1000000"},
         "unexpected output of the CUDA probe: \"y\"\n"
         "/bin/sh: not a CUDA probe: it exited with status 0 without output" + say},
    }));
    // clang-format on
    CAPTURE(row.program);
    NvidiaMachine machine;
    machine.host.cuda.program = row.program;
    const auto report = probe_cuda(machine.host);
    CHECK_FALSE(report.driver);
    CHECK(warnings_text(report) == row.warning);
}

TEST_CASE("a program that takes itself for no probe does not start one", "[virtual-packages]") {
    NvidiaMachine machine;
    machine.host.cuda.program = {
        "/bin/sh", "-c", "test $GPKG_PROBING = 1 && echo library L && echo driver 12040; echo end"};
    CHECK(probe_cuda(machine.host).driver == 12040);
    machine.host.env = tests::environment({{"GPKG_PROBING", "1"}});
    CHECK_FALSE(probe_cuda(machine.host).driver);
}

TEST_CASE("a device line that makes no sense is no device", "[virtual-packages]") {
    const auto line = GENERATE("device",
                               "device 0",
                               "device 0 cc 0 0 memory 1 name A",
                               "device 0 cc 9 x memory 1 name A",
                               "device 0 cc 9 0 memory -1 name A",
                               "device 0 cc 9 0 memory 1",
                               "device 0 cc 900 0 memory 1 name A",
                               "device 0 cc 99999999999999999999 0 memory 1 name A");
    NvidiaMachine machine;
    machine.host.cuda.program = {
        "/bin/sh",
        "-c",
        fmt::format("echo library L; echo driver 12040; echo init 0; echo devices 1; echo {}; "
                    "echo end",
                    line)};
    const auto report = probe_cuda(machine.host);
    CHECK(report.driver == 12040);
    CHECK(report.devices.empty());
    CHECK(warnings_text(report) == fmt::format("unexpected output of the CUDA probe: \"{}\"\n"
                                               "L: only 0 of 1 devices responded",
                                               std::string_view(line).substr(0, 60)));
}

TEST_CASE("a machine without a trace of NVIDIA is not asked", "[virtual-packages]") {
    tests::Machine machine;
    machine.host.cuda.program = {"/nonexistent/gpkg"};
    machine.host.cuda.libraries = usual_cuda_libraries();
    CHECK_FALSE(may_have_cuda(machine.host));
    CHECK(warnings_text(probe_cuda(machine.host)).empty());

    SECTION("the kernel module") { machine.file("proc/driver/nvidia/version", ""); }
    SECTION("the kernel module, open variant") {
        fs::create_directories(machine.host.root / "sys/module/nvidia");
    }
    SECTION("the device node") { machine.file("dev/nvidiactl", ""); }
    SECTION("Windows' paravirtual GPU") { machine.file("dev/dxg", ""); }
    SECTION("a Tegra board") { machine.file("etc/nv_tegra_release", ""); }
    SECTION("a library in a usual folder") {
        machine.file("usr/lib/x86_64-linux-gnu/libcuda.so.1", "");
    }
    SECTION("a library of WSL") { machine.file("usr/lib/wsl/lib/libcuda.so.1", ""); }
    SECTION("a library in the loader's own folder") { machine.file("lib64/libcuda.so.1", ""); }
    SECTION("a library on LD_LIBRARY_PATH") {
        machine.file("opt/driver/libcuda.so.1", "");
        CHECK_FALSE(may_have_cuda(machine.host));
        machine.host.env = tests::environment({{"LD_LIBRARY_PATH", "/usr/lib::/opt/driver"}});
    }
    SECTION("a library in ld.so.cache") {
        machine.file("opt/nv/libcuda.so.1", "");
        const char cache[] = "glibc-ld.so.cache1.1\0libcuda.so.1\0/opt/nv/libcuda.so.1\0libz.so.1";
        machine.file("etc/ld.so.cache", std::string_view(cache, sizeof(cache)));
    }
    CHECK(may_have_cuda(machine.host));
    CHECK_FALSE(warnings_text(probe_cuda(machine.host)).empty());
}

TEST_CASE("a library that ld.so.cache remembers and nobody has is no trace", "[virtual-packages]") {
    tests::Machine machine;
    machine.host.cuda.libraries = usual_cuda_libraries();
    const char cache[] = "\0/opt/nv/libcuda.so.1\0";
    machine.file("etc/ld.so.cache", std::string_view(cache, sizeof(cache)));
    CHECK_FALSE(may_have_cuda(machine.host));
}

TEST_CASE("overrides that decide everything leave the driver alone", "[virtual-packages]") {
    struct Row {
        tests::Variables variables;
        bool asked;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {{}, true},
        {{{"CONDA_OVERRIDE_CUDA", ""}}, false},
        {{{"CONDA_OVERRIDE_CUDA", "12.4"}}, true},
        {{{"CONDA_OVERRIDE_CUDA", "12.4"}, {"CONDA_OVERRIDE_CUDA_ARCH", "9.0"}}, false},
        {{{"CONDA_OVERRIDE_CUDA", "12.4"}, {"CONDA_OVERRIDE_CUDA_ARCH", ""}}, false},
        {{{"CONDA_OVERRIDE_CUDA", "12.4"}, {"CONDA_OVERRIDE_CUDA_ARCH", "9.0a"}}, true},
        {{{"CONDA_OVERRIDE_CUDA", "new"}, {"CONDA_OVERRIDE_CUDA_ARCH", "9.0"}}, true},
        {{{"CONDA_OVERRIDE_CUDA_ARCH", "9.0"}}, true},
    }));
    // clang-format on
    CAPTURE(row.variables);
    NvidiaMachine machine;
    machine.host.cuda.program = {"/nonexistent/gpkg"};
    machine.host.env = tests::environment(row.variables);
    const auto found = detect_all(machine.host);
    const auto asked = std::ranges::any_of(found.warnings, [](const std::string& warning) {
        return warning.starts_with("/nonexistent/gpkg: ");
    });
    CHECK(asked == row.asked);
}

TEST_CASE("the driver's facts become virtual packages", "[virtual-packages]") {
    const NvidiaMachine machine({"FAKE_CUDA_DEVICES=9.0:81559:NVIDIA H100,7.5:15109:Tesla T4"});
    const auto found = detect_all(machine.host);
    REQUIRE(found.find("__cuda") != nullptr);
    CHECK(found.find("__cuda")->package.to_string() == "__cuda=12.4=0");
    CHECK(found.find("__cuda")->source == kLibrary + " cuDriverGetVersion");
    REQUIRE(found.find("__cuda_arch") != nullptr);
    CHECK(found.find("__cuda_arch")->package.to_string() == "__cuda_arch=7.5=0");
}

TEST_CASE("answers are remembered until something they depend on changes", "[virtual-packages]") {
    NvidiaMachine machine;
    auto& host = machine.host;
    host.cuda.cache_folder = machine.scratch() / "cache";
    const auto start = host.now();
    CHECK_FALSE(probe_cuda(host).from_cache);

    // From here on, only the memory can answer.
    host.cuda.program = {"/nonexistent/gpkg"};
    const auto remembered = [&] { return probe_cuda(host).from_cache; };
    const auto again = probe_cuda(host);
    REQUIRE(again.from_cache);
    CHECK(again.driver == 12040);
    CHECK(devices_text(again) == "9.0 81559 MiB NVIDIA H100 80GB HBM3");
    CHECK(again.library == kLibrary);
    CHECK(detect_all(host).find("__cuda")->source == kLibrary + " cuDriverGetVersion, cached");

    SECTION("another boot") { machine.file("proc/sys/kernel/random/boot_id", "another\n"); }
    SECTION("a boot without a name") { machine.file("proc/sys/kernel/random/boot_id", ""); }
    SECTION("another driver") { machine.file("proc/driver/nvidia/version", "NVRM version: 570\n"); }
    SECTION("another device") { machine.file("dev/nvidia1", ""); }
    SECTION("another GPU on the bus") {
        machine.file("proc/driver/nvidia/gpus/0000:41:00.0/x", "");
    }
    SECTION("another job of a batch system") {
        machine.file("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7\n");
    }
    SECTION("another search path") {
        host.env = tests::environment({{"LD_LIBRARY_PATH", "/usr/local/cuda/compat"}});
    }
    SECTION("another library") {
        machine.file("usr/lib/libcuda.so.1", "");
        host.cuda.libraries.emplace_back("libcuda.so.1");
    }
    SECTION("a day later") {
        host.now = [=] { return start + 23h; };
        CHECK(remembered());
        host.now = [=] { return start + 24h; };
    }
    SECTION("a clock that was set back") {
        host.now = [=] { return start - 4min; };
        CHECK(remembered());
        host.now = [=] { return start - 6min; };
    }
    SECTION("no folder") { host.cuda.cache_folder.clear(); }
    CHECK_FALSE(remembered());
}

TEST_CASE("a damaged memory is asked for again", "[virtual-packages]") {
    NvidiaMachine machine;
    auto& host = machine.host;
    host.cuda.cache_folder = machine.scratch() / "cache";
    REQUIRE_FALSE(probe_cuda(host).from_cache);
    const auto path = fs::directory_iterator(host.cuda.cache_folder)->path();
    const auto whole = read_file(path).value();

    const auto damaged = GENERATE_COPY(values<std::string>({
        "",
        "gpkg-cuda-cache 1\n",
        "x" + whole,
        whole.substr(0, whole.size() / 2),
        whole.substr(0, whole.size() - 4),  // without "end"
        whole + "noise\n",
    }));
    REQUIRE(write_file_atomically(path, damaged));
    const auto report = probe_cuda(host);
    CHECK_FALSE(report.from_cache);
    CHECK(report.driver == 12040);
    CHECK(read_file(path).value() == whole);
}

TEST_CASE("only a whole answer is remembered", "[virtual-packages]") {
    const std::vector<std::string> settings =
        GENERATE(values<std::vector<std::string>>({{"FAKE_CUDA_DEVICES="},
                                                   {"FAKE_CUDA_INIT=100"},
                                                   {"FAKE_CUDA_INIT=803"},
                                                   {"FAKE_CUDA_VERSION=0"},
                                                   {"FAKE_CUDA_DO=crash-init"},
                                                   {"FAKE_CUDA_DEVICES=9.0:1:A,fail"}}));
    CAPTURE(settings);
    NvidiaMachine machine(settings);
    machine.host.cuda.cache_folder = machine.scratch() / "cache";
    probe_cuda(machine.host);
    CHECK_FALSE(fs::exists(machine.host.cuda.cache_folder));
}

TEST_CASE("expired answers of other boots are removed", "[virtual-packages]") {
    NvidiaMachine machine;
    auto& host = machine.host;
    host.cuda.cache_folder = machine.scratch() / "cache";
    host.now = [] { return std::chrono::system_clock::now(); };
    const auto old = host.cuda.cache_folder / "cuda-0123456789abcdef.txt";
    const auto young = host.cuda.cache_folder / "cuda-fedcba9876543210.txt";
    const auto foreign = host.cuda.cache_folder / "notes.txt";
    for (const auto& path : {old, young, foreign}) REQUIRE(write_file_atomically(path, "x"));
    for (const auto& path : {old, foreign})
        fs::last_write_time(path, fs::last_write_time(path) - 25h);
    probe_cuda(host);
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(young));
    CHECK(fs::exists(foreign));
}

TEST_CASE("a folder that cannot be written costs nothing but time", "[virtual-packages]") {
    NvidiaMachine machine;
    machine.host.cuda.cache_folder = "/dev/null/cache";
    const auto report = probe_cuda(machine.host);
    CHECK(report.driver == 12040);
    CHECK(warnings_text(report).empty());
}

TEST_CASE("versions are numbers of the driver", "[virtual-packages]") {
    CHECK(cuda_version_text(12040) == "12.4");
    CHECK(cuda_version_text(13000) == "13.0");
    CHECK(cuda_version_text(11080) == "11.8");
    CHECK(cuda_version_text(9020) == "9.2");
}

}  // namespace cuda_test
