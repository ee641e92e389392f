#include "libcore/build/run_exports.hpp"

#include "libcore/recipe/pin.hpp"
#include "tests/support/catch.hpp"

using Texts = std::vector<std::string>;

TEST_CASE("exports of build and host packages become dependencies", "[build]") {
    gpkg::EnvironmentPackage compiler{"gcc_linux-64", "12", "h0_0", {}};
    compiler.run_exports.strong = {"libgcc-ng >=12"};
    gpkg::EnvironmentPackage zlib{"zlib", "1.2", "h0_0", {}};
    zlib.run_exports.weak = {"libzlib >=1.2,<2.0a0"};
    zlib.run_exports.noarch = {"zlib-data"};
    zlib.run_exports.weak_constrains = {"zlib-ng ==0"};
    gpkg::EnvironmentPackage hidden{"not-named", "1", "h0_0", {}};
    hidden.run_exports.weak = {"never"};
    gpkg::EnvironmentPackage openssl{"openssl", "3", "h0_0", {}};
    openssl.run_exports.weak = {"openssl >=3"};

    gpkg::RecipeRequirements needs;
    needs.build = {"gcc_linux-64 12.*"};
    needs.host = {"zlib", "openssl >=3", "libgcc-ng"};
    needs.run = {"python"};

    auto host = needs.host;
    gpkg::add_strong_exports(needs, {compiler}, host);
    CHECK(host == Texts{"zlib", "openssl >=3", "libgcc-ng", "libgcc-ng >=12"});
    const gpkg::BuildEnvironments made{needs, {compiler}, {zlib, hidden, openssl}, {}};
    auto run = gpkg::run_dependencies(made, false);
    CHECK(run.depends == Texts{"python", "libgcc-ng >=12", "libzlib >=1.2,<2.0a0", "openssl >=3"});
    CHECK(run.constrains == Texts{"zlib-ng ==0"});

    run = gpkg::run_dependencies(made, true);
    CHECK(run.depends == Texts{"python", "zlib-data"});

    needs.ignore_run_exports_by_name = {"libzlib"};
    needs.ignore_run_exports_from_package = {"openssl"};
    run = gpkg::run_dependencies({needs, {compiler}, {zlib, openssl}, {}}, false);
    CHECK(run.depends == Texts{"python", "libgcc-ng >=12"});

    // What is inherited exports too, less what either ignores.
    gpkg::RecipeRequirements own;
    own.run = {"a"};
    run = gpkg::run_dependencies({own, {}, {}, {}}, false, {made});
    CHECK(run.depends == Texts{"a", "libgcc-ng >=12", "libzlib >=1.2,<2.0a0", "openssl >=3"});
    own.ignore_run_exports_by_name = {"openssl"};
    run = gpkg::run_dependencies({own, {}, {}, {}}, false, {made});
    CHECK(run.depends == Texts{"a", "libgcc-ng >=12", "libzlib >=1.2,<2.0a0"});
}

TEST_CASE("pin_compatible() takes what the environments hold", "[build]") {
    using gpkg::Pin;
    gpkg::RecipeRequirements needs;
    needs.run = {gpkg::open_pin({"numpy", "x.x", "x", false}), "b"};
    needs.run_constraints = {gpkg::open_pin({"cuda-version", "", "x.x", false})};
    needs.run_exports.weak = {gpkg::open_pin({"numpy", {}, {}, true})};
    needs.extras["more"] = {gpkg::open_pin({"gcc", "x", "", false})};
    const gpkg::BuildEnvironments own{
        needs, {{"gcc", "12.3", "0"}, {"numpy", "1.0", "0"}}, {{"numpy", "1.26.4", "py312_0"}}, {}};
    const gpkg::BuildEnvironments base{{}, {}, {{"cuda-version", "12.9", "1"}}, {}};
    REQUIRE(gpkg::close_pins(needs, own, {base}));
    CHECK(needs.run == Texts{"numpy >=1.26,<2.0a0", "b"});
    CHECK(needs.run_constraints == Texts{"cuda-version <12.10.0a0"});
    CHECK(needs.run_exports.weak == Texts{"numpy ==1.26.4 py312_0"});
    CHECK(needs.extras["more"] == Texts{"gcc >=12"});

    needs.run = {gpkg::open_pin({"scipy", "x.x", "x", false})};
    const auto failed = gpkg::close_pins(needs, own, {base});
    REQUIRE(!failed);
    CHECK_THAT(failed.error().message,
               ContainsSubstring("pin_compatible: scipy is not in the build or host environment"));
}
