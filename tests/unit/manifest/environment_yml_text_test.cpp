#include "libcore/manifest/environment_yml_text.hpp"

#include "libcore/manifest/environment_yml.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace environment_yml_text_test {
namespace {

Manifest read_back(const EnvironmentYml& environment) {
    auto manifest =
        parse_environment_yml(to_text(environment), "env.yml", {"linux-64", "/home/me", {}});
    REQUIRE(manifest);
    CHECK(manifest->warnings.empty());
    return *std::move(manifest);
}

}  // namespace

TEST_CASE("what is written is read back", "[manifest]") {
    EnvironmentYml environment;
    environment.name = "1.10";
    environment.channels = {"conda-forge", "file:///a b#c"};
    environment.dependencies = {
        "numpy=2.1.0=py312_0", "_libgcc_mutex=0.1=main", "a[version='>=1']"};
    environment.pip = {"left-pad==1.5"};
    environment.dependencies.emplace_back("pip=24=0");
    environment.variables = {{"A", "1_000"},
                             {"B", "yes"},
                             {"C", "x # [win]"},
                             {"D", "a\nb\\"},
                             {"E", ""},
                             {"F", "~"},
                             {"G", "'"},
                             {"H", "- x"},
                             {"I", R"(^\d+\.(txt|bin)$)"},
                             {"J", R"($HOME "q")"},
                             {"K", R"($LIB\x41)"},
                             {"L", R"($'\a')"}};
    environment.accelerator = {"nvidia", "none"};
    environment.package_accelerators = {{"tensorflow", "none"}};
    const auto manifest = read_back(environment);
    CHECK(manifest.name == "1.10");
    CHECK(manifest.channels == environment.channels);
    CHECK(manifest.dependencies.size() == 4);
    CHECK(manifest.dependencies.front() == MatchSpec::parse("numpy=2.1.0=py312_0").value());
    CHECK(manifest.pip == environment.pip);
    CHECK(manifest.variables == environment.variables);
    CHECK(manifest.accelerators.all ==
          std::vector{AcceleratorChoice::Nvidia, AcceleratorChoice::None});
    CHECK(manifest.accelerators.of_package.at("tensorflow") == AcceleratorChoice::None);
}

TEST_CASE("what is empty is not written, but for the dependencies", "[manifest]") {
    CHECK(to_text({}) == "dependencies: []\n");
    EnvironmentYml environment;
    environment.accelerator = {"none"};
    environment.prefix = "/envs/x";
    CHECK(to_text(environment) ==
          "dependencies: []\n"
          "accelerator: none\n"
          "prefix: /envs/x\n");
    environment = {};
    environment.pip = {"-e ."};
    CHECK(to_text(environment) ==
          "dependencies:\n"
          "  - pip:\n"
          "    - \"-e .\"\n");
}

}  // namespace environment_yml_text_test
