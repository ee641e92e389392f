#include "libcore/build/run_exports.hpp"

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

    CHECK(gpkg::host_specs(needs, {compiler}) ==
          Texts{"zlib", "openssl >=3", "libgcc-ng", "libgcc-ng >=12"});
    auto run = gpkg::run_dependencies(needs, false, {compiler}, {zlib, hidden, openssl});
    CHECK(run.depends == Texts{"python", "libgcc-ng >=12", "libzlib >=1.2,<2.0a0", "openssl >=3"});
    CHECK(run.constrains == Texts{"zlib-ng ==0"});

    run = gpkg::run_dependencies(needs, true, {compiler}, {zlib, openssl});
    CHECK(run.depends == Texts{"python", "zlib-data"});

    needs.ignore_run_exports_by_name = {"libzlib"};
    needs.ignore_run_exports_from_package = {"openssl"};
    run = gpkg::run_dependencies(needs, false, {compiler}, {zlib, openssl});
    CHECK(run.depends == Texts{"python", "libgcc-ng >=12"});
}
