#include "libcore/recipe/package_test.hpp"

#include "tests/support/catch.hpp"

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
    python.python_versions = {"3.10.*", "*"};
    PackageTest contents;
    contents.kind = PackageTest::Kind::Contents;
    contents.files = {"lib/**/*.so"};
    contents.absent_files = {"lib/*.a"};
    contents.strict = true;
    contents.bin = {"dumpsolv"};
    contents.lib = {"solv", "libsolv.so.1"};
    contents.include = {"solv/repo.h"};
    contents.site_packages = {"numpy.linalg"};
    PackageTest downstream;
    downstream.kind = PackageTest::Kind::Downstream;
    downstream.downstream = "scipy";
    PackageTest perl;
    perl.kind = PackageTest::Kind::Perl;
    perl.imports = {"List::Util", "strict"};
    PackageTest r;
    r.kind = PackageTest::Kind::R;
    r.imports = {"stats"};
    PackageTest ruby;
    ruby.kind = PackageTest::Kind::Ruby;
    ruby.imports = {"json"};
    const std::vector<PackageTest> tests{script, python, contents, downstream, perl, r, ruby, {}};

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

    REQUIRE(gpkg::write_file_atomically(file, "- lua: x\n"));
    CHECK(gpkg::read_tests(folder->path()).error().message ==
          file.native() + ":1:3: unknown kind of test");
    REQUIRE(gpkg::write_file_atomically(file, "- perl: x\n"));
    CHECK(gpkg::read_tests(folder->path()).error().message ==
          file.native() + ":1:9: expected uses in a map");
}

TEST_CASE("each test says what its environments hold", "[build]") {
    using Environments = std::vector<std::vector<std::string>>;
    PackageTest test;
    CHECK(test_environments(test) == Environments{{}});
    test.requirements = {"make", "sed >=4"};
    CHECK(test_environments(test) == Environments{{"make", "sed >=4"}});
    PackageTest python;
    python.kind = PackageTest::Kind::Python;
    CHECK(test_environments(python) == Environments{{}});
    python.python_versions = {"3.10.*", "3.12.*"};
    CHECK(test_environments(python) == Environments{{"python 3.10.*"}, {"python 3.12.*"}});
    PackageTest modules;
    modules.kind = PackageTest::Kind::R;
    modules.imports = {"stats"};
    CHECK(test_environments(modules) == Environments{{"r-base"}});
    CHECK(test_script(modules) == "Rscript -e 'library(stats)'\n");
    modules.kind = PackageTest::Kind::Ruby;
    CHECK(test_script(modules) == "ruby -e 'require '\\''stats'\\'''\n");
    modules.kind = PackageTest::Kind::Perl;
    CHECK(test_script(modules) == "perl -e 'use stats;'\n");
}

TEST_CASE("contents are looked for where they belong", "[build]") {
    const std::vector<std::string> paths{"bin/dumpsolv",
                                         "lib/libsolv.so.1",
                                         "lib/libz.a",
                                         "include/solv/repo.h",
                                         "lib/python3.12/site-packages/numpy/linalg/__init__.py",
                                         "lib/python3.12/site-packages/numpy/core.cpython-312.so",
                                         "lib/python3.12/site-packages/numpy/py.typed",
                                         "site-packages/six.py"};
    PackageTest test;
    test.kind = PackageTest::Kind::Contents;
    test.bin = {"dumpsolv"};
    test.lib = {"solv", "libsolv.so.1", "z"};
    test.include = {"solv/repo.h"};
    test.site_packages = {"numpy.linalg", "numpy.core", "numpy/py.typed", "six"};
    test.absent_files = {"lib/libsolv.a"};
    test.strict = true;
    CHECK(content_faults(test, paths).empty());
    for (const auto member : {&PackageTest::bin,
                              &PackageTest::lib,
                              &PackageTest::include,
                              &PackageTest::site_packages,
                              &PackageTest::files}) {
        auto wrong = test;
        (wrong.*member).emplace_back("nothing");
        CHECK(content_faults(wrong, paths).size() == 1);
    }
    test.absent_files = {"lib/*.a"};
    CHECK(content_faults(test, paths) == std::vector<std::string>{"unwanted file: lib/*.a"});
    test.absent_files.clear();
    test.bin.clear();
    CHECK(content_faults(test, paths) ==
          std::vector<std::string>{"unexpected file (strict): bin/dumpsolv"});
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
