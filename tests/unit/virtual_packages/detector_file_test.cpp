#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"
#include "virtual-packages/detector_file_internal.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace detector_file_test {
namespace {

const std::string kHead = "gpkg_detector: 1\n";

/// What is wrong with a file of this text; "accepted" for nothing.
std::string failure(const std::string& text) {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto path = folder.path() / "a.yaml";
    REQUIRE(write_file_atomically(path, text));
    const auto read = read_detector(path);
    if (read) return "accepted";
    auto message = read.error().to_string();
    return message.replace(
        message.find(folder.path().native()), folder.path().native().size() + 1, "");
}

}  // namespace

TEST_CASE("a detector's file is read", "[virtual-packages]") {
    const tests::Machine machine;
    machine.file("a.yaml",
                 kHead +
                     "when:\n"
                     "  - {file: /sys/x*/vendor, matches: \"0x8086\"}\n"
                     "  - library: libze_loader.so.1\n"
                     "run: [probe, --all]\n"
                     "yields: [__level_zero, __other]\n"
                     "devices: /dev/dri/*\n");
    const auto detector = read_detector(machine.host.root / "a.yaml");
    REQUIRE(detector);
    REQUIRE(detector->when.size() == 2);
    CHECK(detector->when[0].kind == Look::Kind::File);
    CHECK(detector->when[0].where == "/sys/x*/vendor");
    CHECK(detector->when[0].matches == "0x8086");
    CHECK(detector->when[1].kind == Look::Kind::Library);
    CHECK(detector->run == std::vector<std::string>{"probe", "--all"});
    CHECK(detector->names() == std::vector<std::string>{"__level_zero", "__other"});
    CHECK(detector->devices == std::vector<std::string>{"/dev/dri/*"});
}

TEST_CASE("a damaged detector is refused with the place and the reason", "[virtual-packages]") {
    struct Row {
        std::string text, expected;
    };
    const std::string list = kHead + "virtual_packages:\n";
    const std::string when = list + "  - name: __a\nwhen:\n";
    const std::string run = kHead + "run: x\n";
    const std::string free = "\n  hint: use a name that neither conda nor gpkg defines";
    const std::string spelling =
        "\n  hint: use two underscores, then lower-case letters, digits and underscores: "
        "__level_zero";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {list + "  - name: __a\n", "accepted"},
        {list + "  - {name: __a, version: \"1.2\", build: x_1}\n", "accepted"},
        {list + "  - {name: __a, version: {path: /opt/*, matches: \"([0-9.]+)\"}}\n", "accepted"},
        {run + "yields: __a\n", "accepted"},
        {"", "a.yaml: expected a detector, found nothing"},
        {"[]", "a.yaml:1:1: expected a detector, found a list"},
        {"run: x\n", "a.yaml:1:1: not a detector: the key gpkg_detector is missing\n  hint: docs/reference/hardware-profile.md explains the format"},
        {"gpkg_detector: 2\n", "a.yaml:1:16: unknown format 2; this gpkg reads 1\n  hint: a newer gpkg may read it"},
        {kHead, "a.yaml:1:1: detects nothing: expected `virtual_packages:` or `run:`"},
        {kHead + "wen: []\n", "a.yaml:2:6: unknown key wen\n  hint: did you mean when?"},
        {kHead + "virtual_packages: __a\n", "a.yaml:2:19: expected a list of virtual packages, found a single value"},
        {list + "  - __a\n", "a.yaml:3:5: expected a virtual package as a map, found a single value"},
        {list + "  - version: \"1\"\n", "a.yaml:3:5: expected `name:` with a name like __level_zero"},
        {list + "  - name: a\n", "a.yaml:3:11: a: not a name for a virtual package" + spelling},
        {list + "  - name: __A\n", "a.yaml:3:11: __A: not a name for a virtual package" + spelling},
        {list + "  - name: __a-b\n", "a.yaml:3:11: __a-b: not a name for a virtual package" + spelling},
        {list + "  - name: \"__a\\n\"\n", "a.yaml:3:11: __a\\x0a: not a name for a virtual package" + spelling},
        {list + "  - name: __cuda\n", "a.yaml:3:11: __cuda is reserved" + free},
        {list + "  - name: __rocm\n", "a.yaml:3:11: __rocm is reserved" + free},
        {list + "  - {name: __a, version: x}\n", "a.yaml:3:26: expected a version like 1.3, found \"x\""},
        {list + "  - {name: __a, version: 1-2}\n", "a.yaml:3:26: expected a version like 1.3, found \"1-2\""},
        {list + "  - {name: __a, build: a-b}\n", "a.yaml:3:24: expected letters, digits, _, . and +, found \"a-b\""},
        {list + "  - {name: __a, versoin: \"1\"}\n", "a.yaml:3:26: unknown key versoin\n  hint: did you mean version?"},
        {list + "  - {name: __a, version: {file: /x}}\n",
         "a.yaml:3:26: expected `matches:` with an expression whose group is the version"},
        {list + "  - {name: __a, version: {file: /x, matches: \"[0-9]+\"}}\n",
         "a.yaml:3:46: \"[0-9]+\": has 0 groups, but needs exactly one, the version: ([0-9.]+)"},
        {list + "  - {name: __a, version: {file: /x, matches: \"(\"}}\n",
         "a.yaml:3:46: \"(\": missing ): ("},
        {list + "  - {name: __a, version: {library: x.so, matches: \"(.)\"}}\n",
         "a.yaml:3:36: unknown key library\n  hint: known keys: file, link, path or matches"},
        {when + "  - /sys/x\n", "a.yaml:5:5: expected a map with file:, link:, path: or library:, found a single value"},
        {when + "  - {}\n", "a.yaml:5:5: expected `file:`, `link:`, `path:` or `library:`"},
        {when + "  - {file: /a, path: /b}\n", "a.yaml:5:5: use only one of file, link, path and library"},
        {when + "  - {file: sys/x}\n", "a.yaml:5:12: expected a path from / without .., found \"sys/x\""},
        {when + "  - {file: /sys/../etc/shadow}\n",
         "a.yaml:5:12: expected a path from / without .., found \"/sys/../etc/shadow\""},
        {when + "  - {library: x.so, matches: a}\n", "a.yaml:5:30: matches: cannot be used with library:"},
        {when + "  - {file: /x, matches: \"\"}\n", "a.yaml:5:25: expected an expression of 1 to 1024 characters"},
        {when + "  - {file: /x, matches: \"(a{1000}){1000}\"}\n",
         "a.yaml:5:25: \"(a{1000}){1000}\": invalid repetition size: {1000}"},
        {run, "a.yaml:2:6: expected `yields:` with the virtual packages it can find"},
        {run + "yields: [__glibc]\n", "a.yaml:3:9: __glibc is reserved" + free},
        {run + "yields: [__a]\nvirtual_packages: []\n", "a.yaml:2:6: use only one of run and virtual_packages"},
        {kHead + "run: []\nyields: [__a]\n", "a.yaml:2:6: expected a program and its arguments"},
        {kHead + "yields: [__a]\n", "a.yaml:2:9: yields: needs a program in `run:`"},
        {run + "yields: [__a]\ndevices: [/sys/x]\n", "a.yaml:4:10: /sys/x: not in /dev"},
        {run + "yields: [__a]\ndevices: [/dev/../etc]\n",
         "a.yaml:4:10: expected a path from / without .., found \"/dev/../etc\""},
    }));
    // clang-format on
    CAPTURE(row.text);
    CHECK(failure(row.text) == row.expected);
}

TEST_CASE("a small text that unfolds into a huge one is refused", "[virtual-packages]") {
    std::string text = kHead + "a: &a [x,x,x,x,x,x,x,x,x]\n";
    for (char name = 'b'; name < 'j'; ++name)
        text += fmt::format("{0}: &{0} [*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1}]\n",
                            name,
                            static_cast<char>(name - 1));
    CHECK_THAT(failure(text), ContainsSubstring("the document is too large or too deeply nested"));
    CHECK_THAT(failure(kHead + "a: " + std::string(5000, '[')), ContainsSubstring("a.yaml:"));
    CHECK_THAT(failure(std::string(2 << 20, ' ')), ContainsSubstring("larger than 1 MiB"));
}

}  // namespace detector_file_test
