#include "libcore/build/builder.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/binary/elf.hpp"
#include "libcore/build/find_recipes.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/process/process.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/build/build_fixture.hpp"

#include <algorithm>

namespace fs = gpkg::fs;
using gpkg::BuildOptions;
using gpkg::BuiltPackage;
using gpkg::Result;
using Texts = std::vector<std::string>;

namespace builder_test {
namespace {

using gpkg::testing::BuildFixture, gpkg::testing::kHead, gpkg::testing::offering;
using gpkg::testing::zlib;

Texts names_of(const std::vector<gpkg::PathEntry>& paths) {
    Texts names;
    for (const auto& entry : paths) names.push_back(entry.path);
    return names;
}

}  // namespace

TEST_CASE("a recipe becomes a package", "[build]") {
    const BuildFixture place;
    place.write("r/data/etc/a.conf", "key=1\n");
    place.write("r/COPYING", "do what you like\n");
    const auto built = place.one(R"(
package: {name: a, version: "1.0"}
source:
  - path: data
build:
  number: 2
  script:
    env: {EXTRA: "extra value"}
    content:
      - mkdir -p $PREFIX/bin $PREFIX/empty $PREFIX/gone && rmdir $PREFIX/gone
      - cp -a . $PREFIX
      - printf '#!%s/bin/sh\n' $PREFIX > $PREFIX/bin/run; chmod +x $PREFIX/bin/run
      - printf 'x\0%s/lib\0y' $PREFIX > $PREFIX/etc/binary
      - printf '%s' $PREFIX/ignored > $PREFIX/etc/ignored
      - ln -s $PREFIX/etc/a.conf $PREFIX/bin/link
      - ln -s nowhere $PREFIX/bin/dangling
      - echo "$EXTRA|$PKG_NAME|$PKG_VERSION|$PKG_BUILDNUM|$target_platform|$SRC_DIR|$RECIPE_DIR" > $SRC_DIR/../said
      - test -z "${SHELL_OF_THE_USER-}" && test ${#PREFIX} = 255 && test "$PWD" = "$SRC_DIR"
  always_copy_files: [etc/a.conf]
  prefix_detection: {ignore: [etc/ignored]}
requirements:
  run: [__glibc >=2.17, libc]
  run_constraints: ["b <3"]
  run_exports: {strong: [a >=1]}
tests:
  - script: [run]
about:
  license: MIT
  license_file: COPYING
  homepage: https://a.example
extra: {origin: {by: me}}
)");
    CHECK(built.distribution.starts_with("a-1.0-h"));
    CHECK(built.file == place.at("work/unpublished/linux-64/" + built.distribution + ".conda"));
    CHECK_FALSE(fs::exists(place.at("channel")));
    REQUIRE(built.warnings.size() == 1);
    CHECK(built.warnings[0].find("empty folder") != std::string::npos);

    const auto x = place.unpacked(built);
    const auto paths = gpkg::read_paths(x);
    REQUIRE(paths);
    CHECK(names_of(*paths) ==
          Texts{"bin/dangling", "bin/link", "bin/run", "etc/a.conf", "etc/binary", "etc/ignored"});
    const auto path = [&](const std::string& name) {
        return *std::find_if(
            paths->begin(), paths->end(), [&](const auto& entry) { return entry.path == name; });
    };
    CHECK(path("bin/run").mode == gpkg::FileMode::Text);
    CHECK(path("bin/run").prefix_placeholder == gpkg::canonical_placeholder());
    CHECK(path("etc/binary").mode == gpkg::FileMode::Binary);
    CHECK(path("etc/binary").prefix_placeholder == gpkg::canonical_placeholder());
    CHECK(path("etc/ignored").prefix_placeholder.empty());
    CHECK(path("etc/a.conf").no_link);
    CHECK(path("bin/link").type == gpkg::PathType::SoftLink);
    CHECK(path("bin/link").sha256 == path("etc/a.conf").sha256);
    CHECK_FALSE(fs::exists(x / "empty"));
    CHECK(fs::read_symlink(x / "bin/link") == "../etc/a.conf");

    CHECK(gpkg::read_file(x / "bin/run").value() ==
          "#!" + std::string(gpkg::canonical_placeholder()) + "/bin/sh\n");
    const auto record = gpkg::read_index_json(x);
    REQUIRE(record);
    CHECK(record->depends == Texts{"__glibc >=2.17", "libc"});
    CHECK(record->constrains == Texts{"b <3"});
    CHECK(record->build_number == 2);
    CHECK(record->timestamp == 1'700'000'000'000);
    CHECK(record->license == "MIT");
    CHECK(record->subdir == "linux-64");
    CHECK(gpkg::read_run_exports(x)->strong == Texts{"a >=1"});
    CHECK(gpkg::read_file(x / "info/licenses/COPYING").value() == "do what you like\n");
    CHECK(gpkg::read_file(x / "info/hash_input.json").value() ==
          R"({"__glibc": "__glibc >=2.17", "target_platform": "linux-64"})");
    CHECK(gpkg::read_tests(x)->size() == 1);
    CHECK(fs::exists(x / "info/recipe/recipe.yaml"));
    CHECK(gpkg::read_about_json(x)->home == Texts{"https://a.example"});
    CHECK_THAT(gpkg::read_file(x / "info/about.json").value(), ContainsSubstring("\"by\": \"me\""));
    CHECK_FALSE(fs::exists(place.at("work/builds/" + built.distribution)));
}

TEST_CASE("the same inputs make the same bytes, wherever they are built", "[build]") {
    const auto recipe = kHead +
                        "build:\n  script:\n    - mkdir -p $PREFIX/b\n"
                        "    - echo $PREFIX > $PREFIX/b/t; printf '%s\\0' $PREFIX > $PREFIX/b/z\n"
                        "    - chmod 400 $PREFIX/b/t\n";
    const BuildFixture here;
    BuildFixture there;
    there.options.work = there.at("a/much/longer/place");
    there.options.jobs = 2;
    const auto first = here.one(recipe);
    const auto second = there.one(recipe);
    CHECK(gpkg::sha256_of_file(first.file).value() == gpkg::sha256_of_file(second.file).value());
}

TEST_CASE("what is there and was built from the same inputs is kept", "[build]") {
    BuildFixture place;
    place.write("r/s/f", "1");
    const auto recipe = kHead + "source: [{path: s}]\nbuild: {script: cp -a . $PREFIX}\n";
    const auto reused = [&] { return place.one(recipe).reused; };
    CHECK_FALSE(reused());
    CHECK(reused());
    place.write("r/s/f", "2");
    CHECK_FALSE(reused());
    CHECK(reused());
    place.options.zstd_level = 2;
    CHECK_FALSE(reused());
    place.options.rebuild = true;
    CHECK_FALSE(reused());
    place.options.rebuild = false;
    CHECK(reused());
    const auto file = place.one(recipe).file;
    REQUIRE(gpkg::write_file_atomically(file, "damaged"));
    CHECK_FALSE(reused());
    fs::remove(file);
    CHECK_FALSE(reused());
}

TEST_CASE("what no package may hold is refused", "[build]") {
    const BuildFixture place;
    struct Row {
        std::string script, expected;
    };
    const std::vector<Row> rows = {
        {"ln -s /etc/passwd $PREFIX/p", "p: the link points outside the prefix, to /etc/passwd"},
        {"mkdir $PREFIX/d; ln -s ../../x $PREFIX/d/p",
         "d/p: the link points outside the prefix, to ../../x"},
        {"mkdir $PREFIX/conda-meta; touch $PREFIX/conda-meta/x.json",
         "conda-meta/x.json: this folder is reserved for the package manager"},
        {"mkdir $PREFIX/info; touch $PREFIX/info/x",
         "info/x: this folder is reserved for the package manager"},
        {"touch $PREFIX/s; chmod 4755 $PREFIX/s",
         "s: set-user-ID and set-group-ID programs cannot be packaged"},
        {"mkfifo $PREFIX/f", "f: not a file, link or folder"},
    };
    for (const auto& row : rows) {
        const auto error = place.error(kHead + "build: {script: [\"" + row.script + "\"]}\n");
        CHECK(error == "a-1-hb0f4dca_0: " + row.expected);
    }
    CHECK_FALSE(fs::exists(place.at("work/unpublished/linux-64/a-1-hb0f4dca_0.conda")));
}

TEST_CASE("a failing script is told with its last lines and its log", "[build]") {
    const BuildFixture place;
    const auto built = place.build(kHead + "build: {script: [echo hello, 'false', echo never]}\n");
    REQUIRE_FALSE(built);
    const auto root = fs::canonical(place.at("work")).native();
    CHECK(built.error().message ==
          "a-1-hb0f4dca_0: the build script failed with exit status 1; last output:\n"
          "+ echo hello\nhello\n+ false\nlog: " +
              root + "/logs/a-1-hb0f4dca_0.log\nbuild folder: " + root + "/builds/a-1-hb0f4dca_0");
    CHECK(built.error().hint.empty());
    CHECK(
        place.error(kHead + "requirements: {host: [python]}\n") ==
        "a-1-hb0f4dca_0: the build needs an environment with python, which cannot be created here");
    CHECK(place.error(kHead + "about: {license_file: NONE}\n") ==
          "licence file NONE not found in the sources or next to the recipe");
}

TEST_CASE("a work folder whose path leaves no room is refused", "[build]") {
    BuildFixture place;
    place.options.work = place.at(std::string(200, 'w'));
    CHECK_THAT(place.error(kHead), ContainsSubstring("path of the work folder is too long"));
}

TEST_CASE("environments come from outside and their exports count", "[build]") {
    BuildFixture place;
    place.options.solve_environment = offering({zlib()});
    const auto built = place.one(kHead +
                                 "build:\n  script: cp $PREFIX/lib/libzlib.so $PREFIX/lib/mine.so\n"
                                 "requirements: {host: [zlib >=1.2]}\n");
    CHECK(gpkg::read_file(place.options.work / "logs" / (built.distribution + ".log")));
    const auto x = place.unpacked(built);
    CHECK(names_of(gpkg::read_paths(x).value()) == Texts{"lib/mine.so"});
    CHECK(gpkg::read_index_json(x)->depends == Texts{"libzlib >=1.2"});
}

TEST_CASE("bash scripts run in activated environments, that of the build over the host's",
          "[build]") {
    BuildFixture place;
    place.options.solve_environment =
        [](const std::vector<std::string>& specs) -> Result<gpkg::SolvedEnvironment> {
        gpkg::SolvedEnvironment solved;
        solved.packages = specs;
        solved.make = [specs](const fs::path& prefix,
                              const fs::path&) -> Result<std::vector<gpkg::EnvironmentPackage>> {
            // Somebody's script may fail, read what is not set, and leave options behind.
            const auto text = "export SAID=\"${SAID-}" + specs[0] +
                              " $CONDA_PREFIX \"\nfalse\necho \"$NEVER_SET\"\n";
            GPKG_CHECK(gpkg::write_file_atomically(prefix / "etc/conda/activate.d/one.sh", text));
            return std::vector<gpkg::EnvironmentPackage>{{specs[0], "1", "0"}};
        };
        return solved;
    };
    const auto script = R"x(
build:
  script: |
    test "$SAID" = "libhost $PREFIX compiler $BUILD_PREFIX " && test "$CONDA_PREFIX" = "$BUILD_PREFIX"
    test "$(bash -c 'echo "$SAID"')" = "$SAID"
    case $- in *e*x*) ;; *) exit 1 ;; esac
    mkdir -p $PREFIX/share && echo done > $PREFIX/share/said
requirements: {build: [compiler], host: [libhost]}
)x";
    CHECK(place.error(kHead + script) == "no error");
    // Other languages are not activated for.
    CHECK(place.error(kHead +
                      "build: {script: {interpreter: perl, content: 'exit(exists $ENV{SAID})'}}\n"
                      "requirements: {build: [compiler], host: [libhost]}\n") == "no error");
}

TEST_CASE("noarch python packages", "[build]") {
    const BuildFixture place;
    const auto built = place.one(kHead + R"(
build:
  noarch: python
  script:
    - mkdir -p $PREFIX/lib/python3.11/site-packages/m/__pycache__ $PREFIX/bin
    - touch $PREFIX/lib/python3.11/site-packages/m/__init__.py
    - touch $PREFIX/lib/python3.11/site-packages/m/__pycache__/__init__.cpython-311.pyc
    - touch $PREFIX/bin/tool $PREFIX/bin/script
  python: {entry_points: ["tool = m:main"]}
)");
    CHECK(built.file.parent_path().filename() == "noarch");
    const auto x = place.unpacked(built);
    CHECK(names_of(gpkg::read_paths(x).value()) ==
          Texts{"python-scripts/script", "site-packages/m/__init__.py"});
    const auto link = gpkg::read_link_json(x);
    REQUIRE(link);
    CHECK(link->noarch == "python");
    CHECK(link->entry_points.size() == 1);
    CHECK(gpkg::read_index_json(x)->noarch == "python");
}

TEST_CASE("outputs take their files", "[build]") {
    const BuildFixture place;
    const auto built = place.build(R"(
recipe: {name: x, version: "1"}
outputs:
  - package: {name: x-dev}
    build:
      script: mkdir -p $PREFIX/include/sub; touch $PREFIX/include/a.h $PREFIX/include/sub/b $PREFIX/other
      files: {include: [include/], exclude: ["**/*.h"]}
)");
    REQUIRE(built);
    const auto x = place.unpacked(built->front());
    CHECK(names_of(gpkg::read_paths(x).value()) == Texts{"include/sub/b"});
}

TEST_CASE("a compiled library in a package finds its neighbour", "[build]") {
    gpkg::ProcessCommand probe;
    probe.arguments = {"sh", "-c", "command -v cc && command -v patchelf"};
    if (gpkg::run_command(probe) != 0) {
        WARN("no cc or no patchelf here: the test is skipped");
        return;
    }
    const BuildFixture place;
    const auto built = place.one(kHead + R"(
build:
  script:
    - mkdir -p $PREFIX/bin $PREFIX/lib
    - 'echo "const char* where(void) { return \"$PREFIX/share\"; }" > two.c'
    - 'printf "#include <stdio.h>\nconst char* where(void); int main(void) { puts(where()); }\n" > main.c'
    - cc -shared -fPIC -o $PREFIX/lib/libtwo.so two.c
    - cc -o $PREFIX/bin/main main.c -L$PREFIX/lib -ltwo -Wl,-rpath,$PREFIX/lib
)");
    const auto x = place.unpacked(built, "somewhere else");
    const auto elf = gpkg::read_elf(x / "bin/main");
    REQUIRE(elf);
    CHECK((*elf)->rpath == Texts{"$ORIGIN/../lib"});
    gpkg::ProcessCommand command;
    command.arguments = {(x / "bin/main").native()};
    const auto ran = gpkg::run_and_capture(command);
    REQUIRE(ran);
    CHECK(ran->output == std::string(gpkg::canonical_placeholder()) + "/share\n");
    const auto paths = gpkg::read_paths(x);
    const auto library = std::find_if(paths->begin(), paths->end(), [](const auto& entry) {
        return entry.path == "lib/libtwo.so";
    });
    CHECK(library->mode == gpkg::FileMode::Binary);
    CHECK(library->prefix_placeholder == gpkg::canonical_placeholder());
}

TEST_CASE("packages are readable by cph", "[build]") {
    gpkg::ProcessCommand probe;
    probe.arguments = {"sh", "-c", "command -v cph"};
    if (gpkg::run_command(probe) != 0) {
        WARN("no cph here: the test is skipped");
        return;
    }
    const BuildFixture place;
    const auto built = place.one(kHead + "build: {script: echo x > $PREFIX/file}\n");
    gpkg::ProcessCommand command;
    command.arguments = {"cph", "x", built.file.native(), "--dest", place.at("cph").native()};
    const auto done = gpkg::run_and_capture(command);
    REQUIRE(done);
    INFO(done->output);
    CHECK(done->exit_code == 0);
    CHECK(gpkg::read_file(place.at("cph/file")).value() == "x\n");
}

TEST_CASE("many recipes, in the order of their needs", "[build]") {
    BuildFixture place;
    place.options.jobs = 2;
    place.options.staging = place.at("staging");
    std::vector<std::string> events;
    place.options.report = [&](const gpkg::BuildEvent& event) {
        const std::string kinds = "wsbrf";
        events.push_back(kinds[static_cast<std::size_t>(event.kind)] + event.what.substr(0, 1));
    };
    place.options.solve_environment = [&](const Texts& specs) {
        CHECK(fs::exists(place.at("staging/linux-64/b-1-hb0f4dca_0.conda")));
        return offering({{specs.front(), "1", "0"}})(specs);
    };
    const auto recipe = [&](const std::string& name, const std::string& more) {
        place.write("all/" + name + "/recipe.yaml",
                    "package: {name: " + name + ", version: '1'}\n" + more);
    };
    recipe("a", "requirements: {host: [b]}\n");
    recipe("b", "");
    recipe("c", "build: {script: exit 3}\n");
    recipe("d", "requirements: {build: [c]}\n");
    recipe("e", "requirements: {host: [f]}\n");
    recipe("f", "requirements: {host: [e]}\n");
    recipe("g", "bad: 1\n");
    recipe("h", "build: {skip: [linux]}\n");
    place.write("all/a/source/recipe.yaml", "never looked at");

    const auto files = gpkg::find_recipes(place.at("all"));
    REQUIRE(files);
    CHECK(files->size() == 8);
    const auto built = gpkg::build_all(*files, place.options);
    REQUIRE(built);
    CHECK(built->packages.size() == 2);
    Texts failures;
    for (const auto& failure : built->failures)
        failures.push_back(failure.error.message.substr(0, failure.error.message.find(';')));
    CHECK(failures ==
          Texts{"c-1-hb0f4dca_0: the build script failed with exit status 3",
                "d-1-hb0f4dca_0: needs c-1-hb0f4dca_0, which failed",
                "e-1-hb0f4dca_0: circular dependency between recipes",
                "f-1-hb0f4dca_0: circular dependency between recipes",
                place.at("all/g/recipe.yaml").native() + ":2:1: unknown key 'bad' in a recipe"});
    const auto place_of = [&](const std::string& event) {
        return std::find(events.begin(), events.end(), event) - events.begin();
    };
    CHECK(place_of("bb") < place_of("sa"));
    CHECK(place_of("ba") < static_cast<std::ptrdiff_t>(events.size()));
    CHECK(gpkg::find_recipes(place.at("none")).error().kind == gpkg::ErrorKind::NotFound);
}

TEST_CASE("outputs and variants that do not need each other are built at once", "[build]") {
    BuildFixture place;
    place.options.jobs = 4;
    // Each waits until all have begun.
    const std::string meet =
        "    build:\n      script:\n        - touch $RECIPE_DIR/$PKG_NAME-$flavour\n"
        "        - for i in $(seq 100); do [ $(ls $RECIPE_DIR | grep -c -e -) = 4 ] && exit; sleep "
        "0.1;"
        " done; exit 1\n"
        "      variant: {use_keys: [flavour]}\n";
    place.write("r/variants.yaml", "flavour: [x, y]\n");
    const auto built = place.build("recipe: {version: '1'}\noutputs:\n  - package: {name: a}\n" +
                                   meet + "  - package: {name: b}\n" + meet);
    if (!built) FAIL(built.error().to_string());
    Texts names;
    for (const auto& package : *built) names.push_back(package.distribution.substr(0, 1));
    CHECK(names == Texts{"a", "b", "a", "b"});
}

TEST_CASE("a cancelled run says so", "[build]") {
    BuildFixture place;
    place.options.cancelled = [] { return true; };
    place.write("all/a/recipe.yaml", kHead);
    const auto files = gpkg::find_recipes(place.at("all"));
    REQUIRE(files);
    CHECK(gpkg::build_all(*files, place.options).error().kind == gpkg::ErrorKind::Interrupted);
}

TEST_CASE("binaries that do not fit the recipe are refused, all faults at once", "[build]") {
    BuildFixture place;
    const std::string compile =
        "build:\n  script:\n    - mkdir -p $PREFIX/lib\n"
        "    - echo 'int f(void) { return 1; }' > f.c\n"
        "    - cc -shared -fPIC -Wl,-soname,libfar.so.1 -o libfar.so f.c\n"
        "    - cc -shared -fPIC -Wl,--no-as-needed -o $PREFIX/lib/liba.so f.c libfar.so\n";
    const auto driver = compile + "    - cp libfar.so $PREFIX/lib/libcuda.so.1\n";
    const auto error = place.error(kHead + driver);
    CHECK_THAT(error,
               ContainsSubstring("lib/libcuda.so.1: libcuda.so.1 is part of the GPU driver"));
    CHECK_THAT(error, ContainsSubstring("lib/liba.so: needs libfar.so.1, which is not in"));
    CHECK_FALSE(fs::exists(place.at("work/unpublished")));
    const auto built =
        place.one(kHead + driver +
                  "  dynamic_linking: {missing_dso_allowlist: [libfar.so.1, libcuda.so.1]}\n");
    CHECK_THAT(gpkg::read_file(place.unpacked(built) / "info/binaries.json").value(),
               ContainsSubstring("\"allowed\": true"));

    // Without a host environment the channel tells, when all of a run is built.
    const auto recipe = [&](const std::string& name, const std::string& rest) {
        place.write("all/" + name + "/recipe.yaml",
                    "package: {name: " + name + ", version: '1'}\n" + rest);
    };
    recipe("a", compile + "requirements: {run: [meta]}\n");
    recipe("meta", "requirements: {run: [far]}\n");
    recipe("far",
           "build:\n  script:\n    - mkdir -p $PREFIX/lib\n    - touch $PREFIX/lib/libfar.so.1\n");
    const auto all = [&] {
        return gpkg::build_all(gpkg::find_recipes(place.at("all")).value(), place.options).value();
    };
    auto summary = all();
    CHECK(summary.packages.size() == 3);
    CHECK(summary.failures.empty());

    recipe("meta", "build: {number: 1}\n");
    fs::remove_all(place.at("work/unpublished"));
    summary = {};
    summary = all();
    REQUIRE(summary.failures.size() == 1);
    CHECK_THAT(summary.failures[0].error.message,
               ContainsSubstring("lib/liba.so: needs libfar.so.1 from far, but no run dependency "
                                 "has it\n"
                                 "  hint: add far to requirements.run"));
    CHECK(summary.packages.size() == 2);
    CHECK_FALSE(fs::exists(place.at("work/unpublished/linux-64/a-1-hb0f4dca_0.conda")));
    CHECK(fs::exists(place.at("work/failed/linux-64/a-1-hb0f4dca_0.conda")));

    // A dependency from elsewhere may give it.
    recipe("a", compile + "requirements: {run: [elsewhere]}\n");
    summary = {};
    summary = all();
    CHECK(summary.failures.empty());
    REQUIRE_FALSE(summary.packages.front().warnings.empty());
    CHECK_THAT(summary.packages.front().warnings.front(), ContainsSubstring("needs libfar.so.1"));
}

}  // namespace builder_test
