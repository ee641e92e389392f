#include "virtual-packages/detectors.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>
#include <unistd.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;
using namespace std::chrono_literals;

namespace detectors_test {
namespace {

/// A machine with two folders of detectors.
class Detecting : public tests::Machine {
public:
    Detecting() {
        host.detectors.folders = {scratch() / "user", scratch() / "gpkg"};
        host.detectors.program = {GPKG_TEST_CONFINE};
        host.detectors.limit = 20s;
        file("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
    }

    void detector(const std::string& path, const std::string& text) const {
        REQUIRE(write_file_atomically(scratch() / path, "gpkg_detector: 1\n" + text));
    }

    /// A detector whose program is a shell script. "@" in it is the scratch folder.
    void script(const std::string& name, std::string body) const {
        for (auto at = body.find('@'); at != std::string::npos; at = body.find('@', at + 1))
            body.replace(at, 1, scratch().native());
        const auto path = scratch() / "user" / name;
        REQUIRE(write_file_atomically(path, "#!/bin/sh\n" + body + "\n"));
        fs::permissions(path, fs::perms::owner_all);
        detector("user/" + name + ".yaml", "run: " + name + "\nyields: [__" + name + "]\n");
    }

    std::string user(const std::string& name) const { return (scratch() / "user" / name).native(); }

    Detected ask() const { return ask_detectors(host, {}); }
};

std::string packages_text(const Detected& found) {
    std::vector<std::string> texts;
    for (const auto& [package, source] : found.packages) texts.push_back(package.to_string());
    return fmt::format("{}", fmt::join(texts, " "));
}

std::string warnings_text(const Detected& found) {
    return fmt::format("{}", fmt::join(found.warnings, "\n"));
}

/// Says the answer with version 1 of __x.
const std::string kAnswer =
    "echo '{gpkg_detected: 1, virtual_packages: [{name: __x, version: 1}]}'";

}  // namespace

TEST_CASE("files tell what a machine has", "[virtual-packages]") {
    const Detecting machine;
    machine.file("sys/module/mlx5_core/version", "24.10-1.1.4\n");
    machine.detector(
        "user/a.yaml",
        "virtual_packages:\n"
        "  - {name: __there}\n"
        "  - {name: __fixed, version: \"2.1\", build: x}\n"
        "  - {name: __mlx5, version: {file: /sys/module/mlx5_core/version, matches: '([0-9.]+)'}}\n"
        "  - {name: __mlx4, version: {file: /sys/module/mlx4_core/version, matches: "
        "'([0-9.]+)'}}\n");
    machine.detector("gpkg/b.yaml", "when: [{path: /dev/x}]\nvirtual_packages: [{name: __x}]\n");
    const auto found = machine.ask();
    REQUIRE(packages_text(found) == "__there=0=0 __fixed=2.1=x __mlx5=24.10=0");
    CHECK(warnings_text(found).empty());
    CHECK(found.packages.front().source == machine.user("a.yaml"));
    REQUIRE(found.notes.size() == 2);
    CHECK_THAT(found.notes[1], ContainsSubstring("b.yaml: not for this machine: no path /dev/x"));
    CHECK(detectable_packages(machine.host) ==
          std::vector<std::string>{"__fixed", "__mlx4", "__mlx5", "__there", "__x"});
}

TEST_CASE("the first detector of a name wins", "[virtual-packages]") {
    const Detecting machine;
    const auto telling = [](const std::string& name, int version) {
        return fmt::format("virtual_packages: [{{name: {}, version: {}}}]\n", name, version);
    };
    SECTION("two files tell the same") {
        machine.detector("gpkg/a.yaml", telling("__x", 1));
        machine.detector("user/z.yaml", telling("__x", 2));
        const auto found = machine.ask();
        CHECK(packages_text(found) == "__x=2=0");
        CHECK(warnings_text(found) == (machine.scratch() / "gpkg/a.yaml").native() +
                                          ": __x is already set by " + machine.user("z.yaml") +
                                          ", which has priority");
    }
    SECTION("a user's file hides that of its name") {
        machine.detector("gpkg/a.yaml", telling("__x", 1));
        machine.detector("user/a.yaml", "when: [{path: /nowhere}]\n" + telling("__y", 1));
        CHECK(packages_text(machine.ask()).empty());
        CHECK(warnings_text(machine.ask()).empty());
    }
    SECTION("one file has two ways to find the same") {
        machine.file("sys/new", "3.0");
        machine.detector("user/a.yaml",
                         "virtual_packages:\n"
                         "  - {name: __x, version: {file: /sys/new, matches: '(.*)'}}\n"
                         "  - {name: __x}\n");
        CHECK(packages_text(machine.ask()) == "__x=3.0=0");
        CHECK(warnings_text(machine.ask()).empty());
    }
}

TEST_CASE("a broken file costs a warning, and no other detector", "[virtual-packages]") {
    const Detecting machine;
    machine.detector("user/a.yaml", "virtual_packages: [{name: __cuda}]\n");
    machine.detector("user/b.yaml", "virtual_packages: [{name: __x}]\n");
    REQUIRE(write_file_atomically(machine.scratch() / "user/notes.txt", "none of ours"));
    REQUIRE(write_file_atomically(machine.scratch() / "user/.c.yaml", "an editor's"));
    const auto found = machine.ask();
    CHECK(packages_text(found) == "__x=0=0");
    CHECK(warnings_text(found) == machine.user("a.yaml") +
                                      ":2:27: __cuda is reserved; detector ignored (use a name "
                                      "that neither conda nor gpkg defines)");
}

TEST_CASE("a program's answer", "[virtual-packages]") {
    struct Row {
        std::string body, packages, warning;
    };
    const std::string one = "echo gpkg_detected: 1; ";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {kAnswer, "__x=1=0", ""},
        {"echo '{\"gpkg_detected\": 1, \"virtual_packages\": [{\"name\": \"__x\", \"version\": \"1.2\", \"build\": \"b\"}]}'", "__x=1.2=b", ""},
        {"echo gpkg_detected: 1", "", ""},
        {kAnswer + "; echo odd >&2", "__x=1=0", ""},
        // Its world: no home, no variables but these, nothing to read, a folder that is no one's.
        {"[ -z \"$HOME$USER\" ] && [ \"$LC_ALL\" = C ] && [ $PWD = / ] && [ -z \"$(cat)\" ] && " + kAnswer, "__x=1=0", ""},
        {"true", "", "x: its output: expected a detector output, found nothing"},
        {"echo hello", "", "x: its output:1:1: expected a detector output, found a single value"},
        {"echo '{'", "", "x: its output:2:1: unclosed map: missing '}'"},
        {"echo gpkg_detected: 2", "", "x: its output:1:16: unknown format 2; this gpkg reads 1"},
        {one + "echo 'packages: []'", "", "x: its output:2:11: unknown key packages"},
        {one + "echo 'virtual_packages: [{name: __x, version: new}]'", "", "x: its output:2:41: expected a version like 1.3, found \"new\""},
        {one + "echo 'virtual_packages: [{name: __x, version: any}]'", "", "x: its output:2:20: expected one version, not any"},
        {one + "echo 'virtual_packages: [{name: __y}]'", "", "x: its output:2:20: __y is not listed in yields: of its file"},
        {one + "echo 'virtual_packages: [{name: __cuda}]'", "", "x: its output:2:27: __cuda is reserved"},
        {one + "echo 'virtual_packages: [{name: __x}, {name: __x}]'", "", "x: its output:2:33: __x is listed twice"},
        {one + "echo 'gpus: [{vendor: nvidia, architecture: \"9.0\"}]'", "", "x: its output:2:8: GPUs of nvidia are detected by gpkg itself"},
        {one + "echo 'gpus: [{vendor: other}]'", "", "x: its output:2:17: expected `vendor: nvidia`, `vendor: amd` or `vendor: intel`, found \"other\""},
        {kAnswer + "; echo one >&2; echo 'no such card' >&2; exit 3", "", "x: exited with status 3: no such card"},
        {kAnswer + "; kill -SEGV $$", "", "x: crashed (Segmentation fault)"},
        {"yes | head -c 100000", "", "x: printed more than 64 KiB"},
        {"yes", "", "x: printed more than 64 KiB"},
        {"yes >&2", "", "x: printed more than 64 KiB"},
    }));
    // clang-format on
    CAPTURE(row.body);
    const Detecting machine;
    machine.script("x", row.body);
    const auto found = machine.ask();
    CHECK(packages_text(found) == row.packages);
    CHECK(warnings_text(found) ==
          (row.warning.empty()
               ? ""
               : fmt::format(
                     "{}: {}; set CONDA_OVERRIDE_X instead", machine.user("x.yaml"), row.warning)));
}

TEST_CASE("a program's GPUs are those of a vendor that gpkg does not know", "[virtual-packages]") {
    const Detecting machine;
    machine.script(
        "x",
        "echo '{gpkg_detected: 1, gpus: [{vendor: intel, name: \"Arc\\x1b\", memory_mib: 16384}, "
        "{vendor: intel, architecture: 12.60.7}]}'");
    const auto detected = detect_profile(machine.host);
    CHECK(detected.warnings.empty());
    CHECK(detected.profile.gpus ==
          std::vector<GpuDevice>{{GpuVendor::Intel, "Arc\\x1b", "", 16384, 0},
                                 {GpuVendor::Intel, "", "12.60.7", 0, 0}});
}

TEST_CASE("what cannot be run costs a warning", "[virtual-packages]") {
    const Detecting machine;
    machine.detector("user/x.yaml", "run: absent\nyields: [__x]\n");
    CHECK(warnings_text(machine.ask()) ==
          machine.user("x.yaml") + ": absent: exited with status 126: " + machine.user("absent") +
              ": No such file or directory; set CONDA_OVERRIDE_X instead");
    REQUIRE(write_file_atomically(machine.scratch() / "user/absent", "echo hello"));
    CHECK_THAT(warnings_text(machine.ask()), ContainsSubstring("Permission denied"));

    auto without = machine.host;
    without.detectors.program = {"/nonexistent/gpkg"};
    CHECK_THAT(warnings_text(ask_detectors(without, {})),
               ContainsSubstring("absent: cannot be run: No such file or directory"));
    without.detectors.program = {"/bin/echo"};
    CHECK_THAT(warnings_text(ask_detectors(without, {})),
               ContainsSubstring("absent: was not confined; its output is ignored"));
    without.detectors.program = {};
    CHECK(warnings_text(ask_detectors(without, {})).empty());
}

TEST_CASE("a program that hangs is ended with all it started", "[virtual-packages]") {
    Detecting machine;
    // In the background, behind a shell that is gone, and where a new session was tried.
    const auto body = GENERATE(as<std::string>(),
                               "echo $$; sleep 60",
                               "(sleep 60 & echo $!); (setsid sleep 60 || sleep 60) & sleep 60",
                               "trap '' TERM INT HUP; while :; do sleep 60; done");
    CAPTURE(body);
    machine.script("x", body);
    machine.host.detectors.limit = 300ms;
    machine.host.detectors.cache_folder = machine.scratch() / "cache";
    const auto start = std::chrono::steady_clock::now();
    const auto warning =
        machine.user("x.yaml") +
        ": x: did not respond within 0.3 s and was stopped; set CONDA_OVERRIDE_X instead";
    CHECK(warnings_text(machine.ask()) == warning);
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    CHECK(warnings_text(machine.ask()) == warning + "; retried after two minutes");
}

TEST_CASE("several programs that hang take no longer than one", "[virtual-packages]") {
    Detecting machine;
    for (const auto* const name : {"a", "b", "c", "d", "e"}) machine.script(name, "sleep 60");
    machine.script("x", "echo '{gpkg_detected: 1, virtual_packages: [{name: __x, version: 1}]}'");
    machine.host.detectors.limit = 2s;
    const auto start = std::chrono::steady_clock::now();
    const auto found = machine.ask();
    CHECK(std::chrono::steady_clock::now() - start < 6s);
    CHECK(found.warnings.size() == 5);
    CHECK(found.packages.size() == 1);
}

TEST_CASE("what a program leaves behind is ended with it", "[virtual-packages]") {
    const Detecting machine;
    machine.script("x",
                   "sleep 60 & child=$!\n"
                   "echo \"{gpkg_detected: 1, virtual_packages: [{name: __x, version: $child}]}\"");
    const auto found = machine.ask();
    REQUIRE(found.packages.size() == 1);
    const auto child = std::stoi(found.packages[0].package.version);
    for (int tries = 0; tries < 100 && ::kill(child, 0) == 0; ++tries) {
        // A process that is gone and that nobody asked after yet counts as well.
        const auto status = read_file(fmt::format("/proc/{}/stat", child)).value_or("");
        if (status.find(") Z ") != std::string::npos) return;
        std::this_thread::sleep_for(10ms);
    }
    CHECK(::kill(child, 0) != 0);
}

TEST_CASE("a program that multiplies is ended", "[virtual-packages]") {
    Detecting machine;
    // Each generation lives until the end: 2^6 processes that do not stop by themselves.
    machine.script("x",
                   "n=${1:-0}; if [ $n -lt 6 ]; then $0 $((n+1)) & $0 $((n+1)) & fi; sleep 61.25");
    machine.host.detectors.limit = 500ms;
    CHECK_THAT(warnings_text(machine.ask()), ContainsSubstring("did not respond within 0.5 s"));
    const auto is_left = [] {
        for (const auto& entry : fs::directory_iterator("/proc")) {
            const auto line = read_file(entry.path() / "cmdline").value_or("");
            if (line == std::string("sleep\0"
                                    "61.25\0",
                                    12))
                return true;
        }
        return false;
    };
    for (int tries = 0; tries < 100 && is_left(); ++tries) std::this_thread::sleep_for(10ms);
    CHECK_FALSE(is_left());
}

TEST_CASE("the kernel keeps a program from doing anything", "[virtual-packages]") {
    // "yes" as the build string where it was refused.
    struct Row {
        std::string what, command;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"writing", "touch @/new"},
        {"writing", "echo more >> @/old"},
        {"writing", "(: > @/old)"},
        {"writing", "rm @/old"},
        {"writing", "mv @/old @/new"},
        {"writing", "mkdir @/new"},
        {"writing", "ln @/old @/new"},
        {"writing", "ln -s old @/new"},
        {"writing", "mkfifo @/new"},
        {"any", "echo more | dd of=@/old conv=notrunc"},
        {"network", "chmod 0 @/old"},
        {"network", "touch -d 2001-01-01 @/old"},
        {"network", "truncate -s 1 @/old"},
        {"network", "setsid true"},
        {"network", "python3 -c 'import socket; socket.socket(socket.AF_INET)'"},
        {"network", "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'"},
        {"any", "head -c 10 /dev/zero > /dev/full"},
    }));
    // clang-format on
    CAPTURE(row.command);
    const Detecting machine;
    const auto old = machine.scratch() / "old";
    REQUIRE(write_file_atomically(old, "as it was"));
    const auto before = fs::last_write_time(old);
    machine.script(
        "x",
        "refused=no; " + row.command +
            " 2>/dev/null || refused=yes\n"
            "echo \"{gpkg_detected: 1, virtual_packages: [{name: __x, build: $refused}]}\"");
    const auto found = machine.ask();
    CHECK(warnings_text(found).empty());
    REQUIRE(found.packages.size() == 1);
    const auto& [package, source] = found.packages.front();
    // Where this kernel cannot refuse it, the source says so.
    if (source.find(row.what == "writing" ? "writing could not" : "network could not") !=
        std::string::npos) {
        WARN(source);
        return;
    }
    CHECK(package.build == "yes");
    CHECK(read_file(old).value_or("") == "as it was");
    CHECK(fs::last_write_time(old) == before);
    CHECK_FALSE(fs::exists(machine.scratch() / "new"));
}

TEST_CASE("what a kernel cannot refuse is said", "[virtual-packages]") {
    struct Row {
        std::string lacks, said;
    };
    const auto row = GENERATE(values<Row>({
        {"landlock", ", writing could not be denied to it"},
        {"seccomp", ", the network could not be denied to it"},
        {"both", ", writing could not be denied to it, the network could not be denied to it"},
    }));
    CAPTURE(row.lacks);
    Detecting machine;
    machine.host.detectors.program = {GPKG_TEST_OLD_KERNEL, row.lacks, GPKG_TEST_CONFINE};
    machine.script("x", "echo text > @/new; " + kAnswer);
    const auto found = machine.ask();
    CHECK(warnings_text(found).empty());
    REQUIRE(found.packages.size() == 1);
    CHECK_THAT(found.packages[0].source, ContainsSubstring(row.said));
    // At least nothing is in it.
    CHECK(read_file(machine.scratch() / "new").value_or("").empty());
}

TEST_CASE("a program may write to the devices that its file names", "[virtual-packages]") {
    const Detecting machine;
    // The machine's own, since a character device is not for everybody to make.
    auto host = machine.host;
    host.root = "/";
    const std::string body =
        "refused=no; (: <> /dev/tty0) 2>/dev/null || refused=yes; (: <> /dev/zero) || "
        "refused=zero\n"
        "echo \"{gpkg_detected: 1, virtual_packages: [{name: __x, build: $refused}]}\"";
    machine.script("x", body);
    if (::access("/dev/tty0", R_OK | W_OK) != 0) {
        WARN("there is no /dev/tty0 to try");
        return;
    }
    const auto build = [&] { return ask_detectors(host, {}).packages.at(0).package.build; };
    CHECK(build() == "yes");
    machine.detector("user/x.yaml", "run: x\nyields: [__x]\ndevices: \"/dev/tty[0-0]\"\n");
    CHECK(build() == "no");
}

TEST_CASE("answers of programs are remembered until something changes", "[virtual-packages]") {
    Detecting machine;
    auto& host = machine.host;
    host.detectors.cache_folder = machine.scratch() / "cache";
    const auto start = host.now();
    machine.file("sys/vendor", "0x8086");
    machine.script("x", kAnswer);
    const std::string text = "when: [{file: /sys/vendor, matches: \"8\"}]\nrun: x\nyields: [__x]\n";
    machine.detector("user/x.yaml", text);
    CHECK(machine.ask().packages.at(0).source == machine.user("x.yaml"));

    const auto remembered = [&] {
        const auto found = machine.ask();
        return found.packages.at(0).source == machine.user("x.yaml") + ", cached";
    };
    REQUIRE(remembered());
    SECTION("the file") {
        machine.detector("user/x.yaml", text + "# another\n");
        CHECK_FALSE(remembered());
    }
    SECTION("the program") {
        fs::last_write_time(machine.scratch() / "user/x",
                            fs::last_write_time(machine.scratch() / "user/x") + 1s);
        CHECK_FALSE(remembered());
    }
    SECTION("what the file looks at") {
        machine.file("sys/vendor", "0x8087");
        CHECK_FALSE(remembered());
    }
    SECTION("the boot") {
        machine.file("proc/sys/kernel/random/boot_id", "another");
        CHECK_FALSE(remembered());
    }
    SECTION("the loader's path") {
        host.env = tests::environment({{"LD_LIBRARY_PATH", "/opt/driver"}});
        CHECK_FALSE(remembered());
    }
    SECTION("a day") {
        host.now = [=] { return start + 25h; };
        CHECK_FALSE(remembered());
    }
}

TEST_CASE("nothing is remembered for a while, a failure not at all", "[virtual-packages]") {
    Detecting machine;
    auto& host = machine.host;
    host.detectors.cache_folder = machine.scratch() / "cache";
    const auto start = host.now();
    machine.script("x", "echo gpkg_detected: 1");
    const auto is_remembered = [&] {
        return machine.ask().notes.at(0).find("cached") != std::string::npos;
    };
    CHECK_FALSE(is_remembered());
    CHECK(is_remembered());
    host.now = [=] { return start + 11min; };
    CHECK_FALSE(is_remembered());
    machine.script("x", kAnswer + "; exit 1");
    machine.ask();
    CHECK_FALSE(is_remembered());
}

TEST_CASE("a program is not asked what is decided, nor by one that it asks", "[virtual-packages]") {
    Detecting machine;
    machine.script("x", "exit 1");
    CHECK_FALSE(machine.ask().warnings.empty());
    CHECK(ask_detectors(machine.host, {"__x"}).warnings.empty());
    machine.host.env = tests::environment({{"CONDA_OVERRIDE_X", "2"}});
    const auto detection = detect_all(machine.host);
    CHECK(detection.warnings.empty());
    REQUIRE(detection.find("__x") != nullptr);
    CHECK(detection.find("__x")->package.version == "2");
    machine.host.env = tests::environment({{"CONDA_OVERRIDE_X", "new"}});
    CHECK(detect_all(machine.host).warnings.size() == 2);
    machine.host.env = tests::environment({{"GPKG_PROBING", "1"}});
    CHECK(machine.ask().warnings.empty());
}

TEST_CASE("Level Zero's detector", "[virtual-packages]") {
    struct Row {
        std::string word, packages, gpus, warning;
    };
    const std::string gpu = "intel Intel(R) Data Center GPU Max 1550 12.60.7 65536";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"", "__level_zero=1.6=0", gpu, ""},
        {"chatter", "__level_zero=1.6=0", gpu, ""},
        {"old", "__level_zero=1.6=0", "intel Intel(R) Data Center GPU Max 1550  65536", ""},
        {"none", "", "", ""},
        {"fail", "", "", "exited with status 1: zeDriverGet returned 0x70000001"},
        {"crash", "", "", "crashed (Aborted)"},
        {"hang", "", "", "did not respond within 1 s and was stopped"},
        {"absent", "", "", ""},    // the loader is not there: not run
        {"another", "", "", ""},   // no GPU of Intel's
    }));
    // clang-format on
    CAPTURE(row.word);
    Detecting machine;
    auto& host = machine.host;
    host.detectors.folders = {GPKG_TEST_DETECTORS};
    host.detectors.limit = row.word == "hang" ? 1s : 20s;
    // The library is outside the machine's root for the loader, and inside for who looks for it.
    const auto library = machine.scratch() / "libze_loader.so.1";
    fs::copy_file(GPKG_TEST_LIBZE, library);
    REQUIRE(write_file_atomically(machine.scratch() / "fake_ze.txt", row.word + "\n"));
    if (row.word != "absent") machine.file(library.relative_path(), "");
    machine.file("sys/class/drm/card0/device/vendor",
                 row.word == "another" ? "0x10de\n" : "0x8086\n");
    host.env = tests::environment({{"LD_LIBRARY_PATH", machine.scratch().native()}});

    const auto found = machine.ask();
    CHECK(packages_text(found) == row.packages);
    std::string gpus;
    for (const auto& device : found.gpus)
        gpus += fmt::format("{} {} {} {}",
                            vendor_name(device.vendor),
                            device.name,
                            device.architecture,
                            device.memory_mib);
    CHECK(gpus == row.gpus);
    CHECK(warnings_text(found) ==
          (row.warning.empty() ? ""
                               : fmt::format("{}/level-zero.yaml: gpkg-detect-level-zero: {}; "
                                             "set CONDA_OVERRIDE_LEVEL_ZERO instead",
                                             GPKG_TEST_DETECTORS,
                                             row.warning)));
}

}  // namespace detectors_test
