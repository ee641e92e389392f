#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"
#include "virtual-packages/look_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;
using Kind = Look::Kind;

namespace look_test {
namespace {

/// Two cards, one of Intel's with two ports; a module; versions in /opt.
class LookedAt : public tests::Machine {
public:
    LookedAt() {
        file("sys/class/drm/card0/device/vendor", "0x10de\n");
        file("sys/class/drm/card1/device/vendor", "0x8086\n");
        file("sys/class/drm/card1-DP-1/status", "connected\n");
        file("sys/module/mlx5_core/version", "24.10-1.1.4\n");
        file("proc/driver/nic", "name\tx\nversion 2.4\nversion 10.1\n");
        file("opt/tool/9.1/bin/tool", "");
        file("opt/tool/10.2/bin/tool", "");
        file("opt/tool/.hidden/bin/tool", "");
        file("opt/driver/libfoo.so.1", "");
        file("etc/[odd]", "1.0");
        fs::create_directory_symlink("../../bus/pci/drivers/i915",
                                     host.root / "sys/class/drm/card1/device/driver");
        fs::create_symlink("nowhere-3.2", host.root / "opt/current");
        ::mkfifo((host.root / "opt/pipe").c_str(), 0600);
    }
};

}  // namespace

TEST_CASE("a pattern names what is there", "[virtual-packages]") {
    struct Row {
        std::string pattern, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"/sys/class/drm/card*/device/vendor", "sys/class/drm/card0/device/vendor sys/class/drm/card1/device/vendor"},
        {"/sys/class/drm/card[1-9]/device/vendor", "sys/class/drm/card1/device/vendor"},
        {"/sys/class/drm/card?", "sys/class/drm/card0 sys/class/drm/card1"},
        {"/opt/tool/*", "opt/tool/10.2 opt/tool/9.1"},
        {"/opt//tool/9.1/", "opt/tool/9.1"},
        {"/opt/current", "opt/current"},  // a link that leads nowhere is there
        {"/opt/current/x", ""},
        {"/nonexistent/*", ""},
        {"/proc/driver/nic/*", ""},
        {"/etc/[[]odd]", "etc/[odd]"},
    }));
    // clang-format on
    CAPTURE(row.pattern);
    const LookedAt machine;
    std::vector<std::string> found;
    for (const auto& path : matching_paths(machine.host.root, row.pattern))
        found.push_back(path.lexically_relative(machine.host.root).native());
    CHECK(fmt::format("{}", fmt::join(found, " ")) == row.expected);
}

TEST_CASE("a condition holds or does not", "[virtual-packages]") {
    struct Row {
        Look look;
        bool expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {{Kind::File, "/sys/class/drm/card*/device/vendor", "^0x8086$"}, true},
        {{Kind::File, "/sys/class/drm/card*/device/vendor", "^0x1002$"}, false},
        {{Kind::File, "/sys/class/drm/card*/device/vendor", ""}, true},
        {{Kind::File, "/sys/class/drm", ""}, false},           // a folder has no text
        {{Kind::File, "/opt/pipe", ""}, false},                // nor has what would be waited for
        {{Kind::File, "/opt/current", ""}, false},
        {{Kind::Path, "/opt/pipe", ""}, true},
        {{Kind::Path, "/opt/tool/*", "tool/9[.]"}, true},
        {{Kind::Link, "/sys/class/drm/card*/device/driver", "/(i915|xe)$"}, true},
        {{Kind::Link, "/opt/current", ""}, true},
        {{Kind::Link, "/opt/tool", ""}, false},
        {{Kind::Library, "libfoo.so.1", ""}, false},
        {{Kind::Library, "/opt/driver/libfoo.so.1", ""}, true},
    }));
    // clang-format on
    CAPTURE(row.look.where, row.look.matches);
    const LookedAt machine;
    CHECK(holds(machine.host, row.look) == row.expected);
}

TEST_CASE("a library is looked for where the loader does", "[virtual-packages]") {
    LookedAt machine;
    machine.host.env = tests::environment({{"LD_LIBRARY_PATH", "/opt/driver"}});
    CHECK(holds(machine.host, {Kind::Library, "libfoo.so.1", ""}));
}

TEST_CASE("a version is what the group matched", "[virtual-packages]") {
    struct Row {
        Look look;
        std::string expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {{Kind::File, "/sys/module/mlx5_core/version", "([0-9.]+)"}, "24.10"},
        {{Kind::File, "/proc/driver/nic", "^version (.*)$"}, "2.4"},           // the first in a text
        {{Kind::Path, "/opt/tool/*", "/([0-9.]+)$"}, "10.2"},                  // the highest of several
        {{Kind::Link, "/opt/current", "-([0-9.]+)"}, "3.2"},
        {{Kind::File, "/proc/driver/nic", "^name\\s+(.*)$"}, "none"},          // "x" is no version
        {{Kind::File, "/proc/driver/nic", "^speed (.*)$"}, "none"},
        {{Kind::File, "/sys/module/mlx5_core/version", "(.*)"}, "none"},       // "24.10-1.1.4" neither
        {{Kind::File, "/proc/driver/nic", "(any)?"}, "none"},
        {{Kind::File, "/nonexistent", "(.*)"}, "none"},
    }));
    // clang-format on
    CAPTURE(row.look.where, row.look.matches);
    const LookedAt machine;
    CHECK(version_seen(machine.host, row.look).value_or("none") == row.expected);
}

TEST_CASE("of very much only a part is looked at", "[virtual-packages]") {
    LookedAt machine;
    machine.file("opt/long", std::string(100'000, 'x') + "\nversion 1.0\n");
    CHECK_FALSE(version_seen(machine.host, {Kind::File, "/opt/long", "version (.*)"}));
    for (int i = 0; i < 1100; ++i)
        fs::create_directories(machine.host.root / fmt::format("opt/many/{}", i));
    CHECK(matching_paths(machine.host.root, "/opt/many/*").size() == 1000);
}

}  // namespace look_test
