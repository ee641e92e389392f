// Staging outputs and what inherits them (CEP 41).

#include "libcore/build/find_recipes.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "tests/unit/build/build_fixture.hpp"

namespace fs = gpkg::fs;
using gpkg::testing::BuildFixture, gpkg::testing::offering, gpkg::testing::zlib;
using Texts = std::vector<std::string>;

namespace staging_test {
namespace {

Texts files_of(const fs::path& unpacked) {
    Texts names;
    const auto paths = gpkg::read_paths(unpacked).value();
    for (const auto& entry : paths) names.push_back(entry.path);
    return names;
}

// As in the CEP: one build, split into headers and the rest.
const std::string kSplit = R"(
recipe: {name: foo, version: "1"}
about: {license: MIT}
outputs:
  - staging: {name: foo-build}
    source: {path: src}
    requirements: {host: [zlib]}
    build:
      script: |
        mkdir -p $PREFIX/include $PREFIX/lib
        cp foo.h $PREFIX/include; echo "$PREFIX" > $PREFIX/lib/foo; chmod 555 $PREFIX/lib/foo
        ln -s foo $PREFIX/lib/link; echo ran >> $RECIPE_DIR/../runs; echo made > made
  - package: {name: foo-headers}
    inherit: {from: foo-build, run_exports: false}
    build: {files: [include/]}
  - package: {name: foo}
    inherit: foo-build
    requirements:
      host: ["${{ pin_subpackage('foo-headers', exact=True) }}"]
      run: ["${{ pin_compatible('zlib', upper_bound='x.x') }}"]
    build: {script: "cat made > $PREFIX/again"}
)";

}  // namespace

TEST_CASE("one build, split into packages", "[build]") {
    BuildFixture place;
    place.write("r/src/foo.h", "int foo;\n");
    auto headers = gpkg::EnvironmentPackage{"foo-headers", "1", "h0"};
    const auto with_headers = [&](const Texts& specs) {
        auto solved = offering({zlib(), headers})(specs);
        auto make = solved->make;
        solved->make = [make](const fs::path& prefix, const fs::path& seen) {
            auto made = make(prefix, seen);
            if (made->front().name == "foo-headers")
                REQUIRE(gpkg::write_file_atomically(prefix / "include/foo.h", "the host's\n"));
            return made;
        };
        return solved;
    };
    place.options.solve_environment = with_headers;
    const auto built = place.build(kSplit);
    if (!built) FAIL(built.error().to_string());
    REQUIRE(built->size() == 2);
    CHECK(gpkg::read_file(place.at("runs")).value() == "ran\n");

    const auto x = place.unpacked(built->at(0));
    CHECK(files_of(x) == Texts{"include/foo.h"});
    CHECK(gpkg::read_index_json(x)->depends.empty());
    CHECK(gpkg::read_index_json(x)->license == "MIT");

    // What the host environment has already is in no second package.
    const auto rest = place.unpacked(built->at(1), "y");
    CHECK(files_of(rest) == Texts{"again", "lib/foo", "lib/link"});
    CHECK(gpkg::read_file(rest / "again").value() == "made\n");
    CHECK(gpkg::read_file(rest / "lib/foo").value() ==
          std::string(gpkg::canonical_placeholder()) + "\n");
    CHECK(fs::read_symlink(rest / "lib/link") == "foo");
    CHECK(gpkg::read_index_json(rest)->depends == Texts{"zlib >=1.2.13,<1.3.0a0", "libzlib >=1.2"});
    CHECK_FALSE(fs::exists(place.at("work/staged/foo-build-staging-hb0f4dca")));

    // Neither is built again, until an input changes.
    CHECK(place.build(kSplit)->at(1).reused);
    CHECK(gpkg::read_file(place.at("runs")).value() == "ran\n");
    place.write("r/src/foo.h", "int bar;\n");
    CHECK_FALSE(place.build(kSplit)->at(1).reused);
    CHECK(gpkg::read_file(place.at("runs")).value() == "ran\nran\n");
}

TEST_CASE("a staging output can begin with another", "[build]") {
    const BuildFixture place;
    const auto built = place.build(R"(
outputs:
  - staging: {name: one}
    build: {script: "echo 1 > $PREFIX/one; echo w > work1"}
  - staging: {name: two}
    inherit: one
    build: {script: "cat $PREFIX/one work1 > $PREFIX/two"}
  - package: {name: a, version: "1"}
    inherit: two
    source: {path: work1}
)");
    place.write("r/work1", "overwritten\n");
    const auto again = place.build(gpkg::read_file(place.at("r/recipe.yaml")).value());
    if (!again) FAIL(again.error().to_string());
    const auto& package = again->front();
    const auto x = place.unpacked(package);
    CHECK(files_of(x) == Texts{"one", "two"});
    CHECK(gpkg::read_file(x / "two").value() == "1\nw\n");
    REQUIRE(package.warnings.size() == 1);
    CHECK(package.warnings[0].starts_with("work1: a source of this output overwrites"));
    CHECK_FALSE(built);  // the source was not there yet
}

TEST_CASE("variants of what is inherited are variants of the package", "[build]") {
    BuildFixture place;
    place.write("r/variants.yaml", "flavour: [x, y]\n");
    const auto built = place.build(R"(
outputs:
  - staging: {name: s}
    build: {script: "echo ${{ flavour }} >> $PREFIX/flavour"}
  - package: {name: a, version: "1"}
    inherit: s
  - package: {name: b, version: "1"}
    inherit: s
)");
    if (!built) FAIL(built.error().to_string());
    REQUIRE(built->size() == 4);
    Texts found;
    for (const auto& package : *built) {
        const auto x = place.unpacked(package);
        found.push_back(gpkg::read_index_json(x)->name + " " +
                        gpkg::read_file(x / "flavour").value());
    }
    CHECK(found == Texts{"a x\n", "b x\n", "a y\n", "b y\n"});
    CHECK(built->at(0).distribution != built->at(2).distribution);
}

TEST_CASE("those who inherit the same are built one after the other, in one place", "[build]") {
    BuildFixture place;
    place.options.jobs = 4;
    // A name and a hash that both recipes' staging outputs have; each output finds its own.
    const auto recipe = [&](const std::string& name) {
        const auto heir = [&](const std::string& heir_name) {
            return "  - package: {name: " + heir_name + ", version: '1'}\n    inherit: build\n" +
                   "    build:\n      files: [" + heir_name + "]\n      script:\n" +
                   "        - mkdir $RECIPE_DIR/alone\n        - sleep 0.2\n"
                   "        - rmdir $RECIPE_DIR/alone\n        - cp $PREFIX/made $PREFIX/" +
                   heir_name + "\n";
        };
        place.write("all/" + name + "/recipe.yaml",
                    "outputs:\n  - staging: {name: build}\n    build:\n      script:\n"
                    "        - echo " +
                        name +
                        " >> $RECIPE_DIR/runs\n"
                        "        - echo " +
                        name + " $PREFIX > $PREFIX/made\n" + heir(name + "1") + heir(name + "2"));
    };
    recipe("a");
    recipe("b");
    const auto files = gpkg::find_recipes(place.at("all"));
    const auto built = gpkg::build_all(*files, place.options);
    REQUIRE(built);
    for (const auto& failure : built->failures) UNSCOPED_INFO(failure.error.to_string());
    REQUIRE(built->packages.size() == 4);
    for (const auto& package : built->packages) {
        const auto name = package.distribution.substr(0, 2);
        CHECK(gpkg::read_file(place.unpacked(package) / name).value() ==
              name.substr(0, 1) + " " + std::string(gpkg::canonical_placeholder()) + "\n");
    }
    CHECK(gpkg::read_file(place.at("all/a/runs")).value() == "a\n");
    CHECK(gpkg::read_file(place.at("all/b/runs")).value() == "b\n");
    CHECK(fs::is_empty(place.at("work/staged")));
}

TEST_CASE("what could not be staged fails all who inherit it, and is tried once", "[build]") {
    BuildFixture place;
    place.write("r/recipe.yaml", R"(
outputs:
  - staging: {name: s}
    build: {script: "echo ran >> $RECIPE_DIR/runs; exit 7"}
  - package: {name: a, version: "1"}
    inherit: s
  - package: {name: b, version: "1"}
    inherit: s
  - package: {name: c, version: "1"}
)");
    const auto built = gpkg::build_all({place.at("r/recipe.yaml")}, place.options);
    REQUIRE(built);
    REQUIRE(built->failures.size() == 2);
    CHECK_THAT(built->failures[0].error.message,
               ContainsSubstring("the build script failed with exit status 7"));
    CHECK_THAT(built->failures[1].error.message, ContainsSubstring("inherits s, which failed"));
    CHECK(built->packages.size() == 1);
    CHECK(gpkg::read_file(place.at("r/runs")).value() == "ran\n");
}

TEST_CASE("a package can begin with another package", "[build]") {
    const BuildFixture place;
    const auto built = place.build(R"(
outputs:
  - package: {name: a, version: "1"}
    build: {script: "echo a > $PREFIX/a", number: 7}
    about: {license: MIT}
  - package: {name: b, version: "2"}
    inherit: a
    build: {script: "cat $PREFIX/a > $PREFIX/b"}
)");
    if (!built) FAIL(built.error().to_string());
    const auto x = place.unpacked(built->at(1));
    CHECK(files_of(x) == Texts{"a", "b"});
    const auto index = gpkg::read_index_json(x);
    CHECK(index->build_number == 7);
    CHECK(index->license == "MIT");
}

TEST_CASE("what a staging output cannot be", "[build]") {
    const BuildFixture place;
    struct Row {
        std::string outputs, expected;
    };
    // clang-format off
    const std::vector<Row> rows = {
        {"  - staging: {name: s}\n    requirements: {run: [a]}\n", "a staging output cannot have 'requirements.run'"},
        {"  - staging: {name: s}\n    build: {number: 1}\n", "a staging output cannot have 'build.number'"},
        {"  - staging: {name: s}\n    tests: []\n", "a staging output cannot have 'tests'"},
        {"  - staging: {nam: s}\n", "unknown key 'nam' in staging"},
        {"  - staging: {name: S}\n", "invalid package name 'S'"},
        {"  - staging: {name: a}\n", "a staging output and another output are both called 'a'"},
        {"  - staging: {name: s}\n    package: {name: s}\n", "an output needs either 'package' or 'staging'"},
        {"  - {about: {}}\n", "an output needs either 'package' or 'staging'"},
        {"  - package: {name: b, version: '1'}\n    inherit: c\n", "'inherit' names an unknown output 'c'"},
        {"  - package: {name: b, version: '1'}\n    inherit: b\n", "'b' pins or inherits itself"},
        {"  - package: {name: b, version: '1'}\n    inherit: {run_exports: true}\n", "'inherit' needs 'from', the name of an output"},
        {"  - staging: {name: s}\n    inherit: a\n  - package: {name: b, version: '1'}\n    inherit: s\n",
         "a staging output cannot inherit 'a', which is a package"},
        {"  - staging: {name: s}\n  - package: {name: b, version: '1'}\n    requirements: {run: [\"${{ pin_subpackage('s') }}\"]}\n",
         "'s' is a staging output, not a package"},
    };
    // clang-format on
    for (const auto& row : rows) {
        CAPTURE(row.outputs);
        CHECK_THAT(place.error("outputs:\n  - package: {name: a, version: '1'}\n" + row.outputs),
                   ContainsSubstring(row.expected));
    }
}

}  // namespace staging_test
