#include "libcore/build/package_test.hpp"

#include "tests/support/catch.hpp"

#include <cstdlib>

using gpkg::PackageTest;

TEST_CASE("tests of a package are read back as written", "[build]") {
    PackageTest script;
    script.commands = {"test -f $PREFIX/lib/libz.so", "echo 'a: b'", "first\nsecond\n"};
    script.requirements = {"python >=3.11"};
    script.recipe_files = {"data/*"};
    PackageTest python;
    python.kind = PackageTest::Kind::Python;
    python.imports = {"numpy", "numpy.linalg"};
    python.pip_check = false;
    PackageTest contents;
    contents.kind = PackageTest::Kind::Contents;
    contents.files = {"lib/**/*.so"};
    contents.absent_files = {"lib/*.a"};
    contents.bin = {"dumpsolv"};
    contents.lib = {"solv", "libsolv.so.1"};
    contents.include = {"solv/repo.h"};
    contents.site_packages = {"numpy.linalg"};
    PackageTest downstream;
    downstream.kind = PackageTest::Kind::Downstream;
    downstream.downstream = "scipy";
    const std::vector<PackageTest> tests{script, python, contents, downstream, {}};

    const auto folder = gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path());
    REQUIRE(folder);
    REQUIRE(gpkg::write_file_atomically(folder->path() / "info/tests/tests.yaml",
                                        gpkg::tests_text(tests)));
    const auto read = gpkg::read_tests(folder->path());
    REQUIRE(read);
    CHECK(*read == tests);
}

TEST_CASE("tests as other builders write them", "[build]") {
    const auto folder = gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path());
    REQUIRE(folder);
    const auto file = folder->path() / "info/tests/tests.yaml";
    CHECK(gpkg::read_tests(folder->path()).value().empty());

    REQUIRE(gpkg::write_file_atomically(
        file, "- script:\n    content:\n    - a --version\n- python:\n    imports: [a]\n"));
    const auto read = gpkg::read_tests(folder->path());
    REQUIRE(read);
    REQUIRE(read->size() == 2);
    CHECK(read->at(0).commands == std::vector<std::string>{"a --version"});
    CHECK(read->at(1).imports == std::vector<std::string>{"a"});

    REQUIRE(gpkg::write_file_atomically(file, "- perl: x\n"));
    CHECK(gpkg::read_tests(folder->path()).error().message ==
          file.native() + ":1:3: no test that gpkg knows");
}

TEST_CASE("contents are looked for where they belong", "[build]") {
    const auto folder = gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path());
    REQUIRE(folder);
    const auto prefix = folder->path() / "a prefix";
    for (const auto* file :
         {"bin/dumpsolv",
          "lib/libsolv.so.1",
          "lib/libz.a",
          "include/solv/repo.h",
          "lib/python3.12/site-packages/numpy/linalg/__init__.py",
          "lib/python3.12/site-packages/numpy/core.cpython-312-x86_64-linux-gnu.so",
          "lib/python3.12/site-packages/numpy/py.typed",
          "lib/python3.12/site-packages/six.py"})
        REQUIRE(gpkg::write_file_atomically(prefix / file, ""));
    const auto passes = [&](const PackageTest& test) {
        const auto script = folder->path() / "test.sh";
        REQUIRE(gpkg::write_file_atomically(script, gpkg::test_script(test)));
        const auto command =
            "PREFIX='" + prefix.native() + "' bash -e '" + script.native() + "' 2>/dev/null";
        return std::system(command.c_str()) == 0;
    };
    PackageTest test;
    test.kind = PackageTest::Kind::Contents;
    test.bin = {"dumpsolv"};
    test.lib = {"solv", "libsolv.so.1", "z"};
    test.include = {"solv/repo.h"};
    test.site_packages = {"numpy.linalg", "numpy.core", "numpy/py.typed", "six"};
    test.absent_files = {"lib/libsolv.a"};
    CHECK(passes(test));
    for (const auto member : {&PackageTest::bin,
                              &PackageTest::lib,
                              &PackageTest::include,
                              &PackageTest::site_packages,
                              &PackageTest::files}) {
        auto wrong = test;
        (wrong.*member).emplace_back("nothing");
        CHECK_FALSE(passes(wrong));
    }
    test.absent_files = {"lib/*.a"};
    CHECK_FALSE(passes(test));
}

TEST_CASE("a test becomes a script", "[build]") {
    PackageTest python;
    python.kind = PackageTest::Kind::Python;
    python.imports = {"numpy", "os; print('x')"};
    python.pip_check = false;
    CHECK(gpkg::test_script(python) ==
          "python -c 'import numpy'\npython -c 'import os; print('\\''x'\\'')'\n");
    PackageTest script;
    script.commands = {"a", "b"};
    CHECK(gpkg::test_script(script) == "a\nb\n");
}
