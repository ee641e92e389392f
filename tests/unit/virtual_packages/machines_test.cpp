#include "virtual-packages/machines.hpp"

#include "libcore/spec/record_version.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace machines_test {
namespace {

/// A folder for profiles.
class Folder {
public:
    Folder() : folder_(TemporaryFolder::make(fs::temp_directory_path()).value()) {}
    fs::path path() const { return folder_.path(); }
    void file(const std::string& name, std::string_view text) const {
        REQUIRE(write_file_atomically(path() / name, text));
    }

private:
    TemporaryFolder folder_;
};

std::string packages_of(const Result<HardwareProfile>& profile) {
    if (!profile) return profile.error().to_string();
    std::vector<std::string> texts{profile->platform};
    const auto detection = virtual_packages_of(*profile, profile->platform, tests::environment({}));
    for (const auto& found : detection.packages) texts.push_back(found.package.to_string());
    return fmt::format("{}", fmt::join(texts, " "));
}

constexpr std::string_view kOwn =
    "gpkg_profile: 1\nplatform: linux-64\nnvidia:\n  cuda: any\ngpus:\n"
    "  - vendor: nvidia\n    architecture: any\n";

}  // namespace

TEST_CASE("a machine's name gives its virtual packages", "[virtual-packages]") {
    struct Row {
        std::string name, expected;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"h100", "linux-64 __archspec=1=x86_64_v3 __cuda=12.8=0 __cuda_arch=9.0=0 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"A100", "linux-64 __archspec=1=x86_64_v3 __cuda=12.8=0 __cuda_arch=8.0=0 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"gh200", "linux-aarch64 __archspec=1=neoverse_v2 __cuda=12.8=0 __cuda_arch=9.0=0 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"mi300", "linux-64 __amdgpu=0=0 __amdgpu_arch=9.4.2=0 __archspec=1=x86_64_v3 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"cpu", "linux-64 __archspec=1=x86_64 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"x86_64_v4", "linux-64 __archspec=1=x86_64_v4 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"zen4", "linux-64 __archspec=1=zen4 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"neoverse_v1", "linux-aarch64 __archspec=1=neoverse_v1 __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"m2", "osx-arm64 __archspec=1=m2 __osx=12.4=0 __unix=0=0"},
        {"power9le", "linux-ppc64le __archspec=1=power9le __glibc=2.28=0 __linux=4.18=0 __unix=0=0"},
        {"h100,glibc=2.36,cuda=12.4,cpu=zen4,linux=6.1", "linux-64 __archspec=1=zen4 __cuda=12.4=0 __cuda_arch=9.0=0 __glibc=2.36=0 __linux=6.1=0 __unix=0=0"},
        {"mi300,rocm=6.4", "linux-64 __amdgpu=0=0 __amdgpu_arch=9.4.2=0 __archspec=1=x86_64_v3 __glibc=2.28=0 __linux=4.18=0 __rocm=6.4=0 __unix=0=0"},
        {"m2,osx=15.1", "osx-arm64 __archspec=1=m2 __osx=15.1=0 __unix=0=0"},
        {"h100,glibc=2", "h100,glibc=2: glibc: expected a version, found '2'"},
        {"m2,glibc=2.36", "m2,glibc=2.36: platform osx-arm64 has no glibc"},
        {"h100,cuda=12.4,cuda=11.8", "h100,cuda=12.4,cuda=11.8: 'cuda' is given twice\n  hint: give each fact once"},
        {"h100,glibc=2.36,cuda=12.4,glibc=2.36", "h100,glibc=2.36,cuda=12.4,glibc=2.36: 'glibc' is given twice\n  hint: give each fact once"},
        {"h100,cpu=m2", "h100,cpu=m2: 'm2' is not a CPU type for linux-64"},
        {"GPU", "GPU: unknown machine\n  hint: name a model, such as a100; to list the names: gpkg hardware list"},
        {"linux-64", "linux-64: a platform, not a machine\n  hint: to solve for a platform: --platform linux-64; for a machine: gpkg hardware list"},
        {"h10", "h10: unknown machine\n  hint: did you mean h100, a10 or k10?"},
        {"none", "none: unknown machine\n  hint: a machine without a GPU: --for cpu"},
        {"osx-arm64", "osx-arm64: a platform, not a machine\n  hint: to solve for a platform: --platform osx-arm64; for a machine: gpkg hardware list"},
        {"glibc=2.17", "glibc=2.17: no machine before the fact\n  hint: for another machine: --for NAME,glibc=2.17; for this machine: CONDA_OVERRIDE_GLIBC=2.17"},
        {"../none", "../none: cannot open: No such file or directory"},
        {"none.yaml", "none.yaml: cannot open: No such file or directory"},
        {"any", "any: not a machine name\n  hint: any is a version in a profile, e.g. cuda: any; gpkg hardware export writes one"},
        {"", ": unknown machine\n  hint: list the names: gpkg hardware list; the path of a file contains a slash or ends in .yaml"},
    }));
    // clang-format on
    const Folder folder;
    CAPTURE(row.name);
    CHECK(packages_of(find_machine(row.name, {folder.path()})) == row.expected);
}

TEST_CASE("an own profile hides the machine of that name", "[virtual-packages]") {
    const Folder folder;
    folder.file("h100.yaml", kOwn);
    folder.file("node7.yaml", kOwn);
    folder.file("broken.yaml", "gpkg_profile: 1\n");
    const std::string own =
        "linux-64 __archspec=0=x86_64 __cuda=any=0 __cuda_arch=any=0 __glibc=2.28=0 __linux=4.18=0 "
        "__unix=0=0";
    CHECK(packages_of(find_machine("h100", {folder.path()})) == own);
    CHECK(packages_of(find_machine("node7", {folder.path()})) == own);
    CHECK(packages_of(find_machine("node8", {folder.path()})) ==
          "node8: unknown machine\n  hint: did you mean node7?");

    const auto machines = named_machines({folder.path()});
    const auto count = [&](std::string_view name) {
        return std::ranges::count(machines, name, &NamedMachine::name);
    };
    CHECK(count("h100") == 1);
    CHECK(machines[0].name == "broken");
    CHECK(machines[0].summary.find("expected `platform:`") != std::string::npos);
    CHECK(machines[1].source == (folder.path() / "h100.yaml").native());
}

TEST_CASE("a profile of one's own hides gpkg's machine, however it is written", "[machines]") {
    const Folder own;
    own.file("h100.yaml", kOwn);
    for (const auto* name : {"h100", "H100"}) {
        const auto found = find_machine(name, {own.path()});
        REQUIRE(found);
        CHECK(found->cuda->value == "any");
    }
    own.file("H100.yaml", "gpkg_profile: 1\nplatform: linux-aarch64\n");
    CHECK(find_machine("H100", {own.path()})->platform == "linux-aarch64");
    CHECK(find_machine("h100", {own.path()})->platform == "linux-64");
}

TEST_CASE("a list of machines is split at commas before machines", "[virtual-packages]") {
    using List = std::vector<std::string>;
    CHECK(machines_in("h100") == List{"h100"});
    CHECK(machines_in("h100,a100,cpu") == List{"h100", "a100", "cpu"});
    CHECK(machines_in("a100,glibc=2.36,cuda=12.4,h100") ==
          List{"a100,glibc=2.36,cuda=12.4", "h100"});
    CHECK(machines_in("partition=gpu,partition=big") == List{"partition=gpu", "partition=big"});
    CHECK(machines_in("./a.yaml,glibc=2.36,./b.yaml") == List{"./a.yaml,glibc=2.36", "./b.yaml"});
    // Blanks stand before facts only.
    CHECK(machines_in("h100 glibc=2.36 cuda=12.4") == List{"h100,glibc=2.36,cuda=12.4"});
    CHECK(machines_in(" h100  glibc=2.36 , a100") == List{"h100,glibc=2.36", "a100"});
    CHECK(machines_in("h100 glibc=2.36 driver=535") == List{"h100,glibc=2.36", "driver=535"});
    CHECK(machines_in("h100 a100") == List{"h100 a100"});
    CHECK(machines_in("./my node.yaml glibc=2.36") == List{"./my node.yaml,glibc=2.36"});
    CHECK(without_given_facts("a100 glibc=2.36 cuda=12.4") == "a100");
    CHECK(find_machine("h100 glibc=2.36 cuda=12.4", {})->cuda->value == "12.4");
    const Folder folder;
    folder.file("a,glibc=2.36", kOwn);
    const auto path = (folder.path() / "a,glibc=2.36").native();
    CHECK(machines_in(path) == List{path});
    CHECK(without_given_facts(path) == path);
    CHECK(without_given_facts("a100,glibc=2.36,cuda=12.4") == "a100");
    CHECK(given_key("__archspec") == "cpu");
    CHECK(given_key("__glibc") == "glibc");
    CHECK_FALSE(given_key("__cuda_arch"));
}

TEST_CASE("what a name does not tell is assumed", "[virtual-packages]") {
    const auto assumed = [](std::string_view name) {
        const auto profile = find_machine(name, {});
        REQUIRE(profile);
        const auto detection =
            virtual_packages_of(*profile, profile->platform, tests::environment({}));
        std::vector<std::string> names;
        for (const auto& record : detection.records()) {
            CHECK(is_assumed(record) == detection.is_assumed(record.name));
            if (is_assumed(record)) names.push_back(record.name);
        }
        return fmt::format("{}", fmt::join(names, " "));
    };
    CHECK(assumed("h100") == "__archspec __cuda __glibc __linux");
    CHECK(assumed("h100,glibc=2.36,cuda=12.4") == "__archspec __linux");
    CHECK(assumed("zen4") == "__glibc __linux");
    CHECK(assumed("m2") == "__osx");
}

TEST_CASE("every machine of gpkg's has a name, facts and a summary", "[virtual-packages]") {
    const Folder folder;
    for (const auto& [name, summary, source] : named_machines({folder.path()})) {
        CAPTURE(name);
        CHECK(source == "gpkg");
        const auto profile = find_machine(name, {folder.path()});
        REQUIRE(profile);
        // What it says is a profile that its file form can hold.
        const auto read = parse_profile(format_profile(*profile), name);
        REQUIRE(read);
        CHECK(format_profile(*read) == format_profile(*profile));
        CHECK(summary.starts_with(profile->platform));
    }
}

}  // namespace machines_test
