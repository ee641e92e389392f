#pragma once

// The tests that a package carries in info/tests. Running them needs an environment with the
// package in it, which is the caller's business; here they are data and a script.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct PackageTest {
    enum class Kind { Script, Python, Perl, R, Ruby, Contents, Downstream };

    Kind kind = Kind::Script;
    std::vector<std::string> commands;      ///< Script: lines for bash
    std::vector<std::string> requirements;  ///< Script: specs the test environment needs as well
    std::vector<std::string> imports;       ///< Python, Perl, R, Ruby: modules
    bool pip_check = true;                  ///< Python: `pip check` where pip is there
    /// Python: each is tried, as a spec's version ("3.10.*"); empty: the one that the solver takes.
    std::vector<std::string> python_versions;
    /// Contents: what must be there, each by section as recipes have it (CEP 14): `files` are globs
    /// below the prefix, `bin` and `include` names below these folders, `lib` names of libraries
    /// ("z", "libz.so.1"), `site_packages` modules or paths ("numpy.linalg", "numpy/py.typed").
    std::vector<std::string> files, bin, lib, include, site_packages;
    std::vector<std::string> absent_files;  ///< Contents: globs that must match nothing
    bool strict = false;                    ///< Contents: there is nothing else
    std::string downstream;                 ///< Downstream: a spec whose own tests must pass
    std::vector<std::string> source_files;  ///< Script: globs copied from the work folder
    std::vector<std::string> recipe_files;  ///< Script: globs copied from the recipe folder

    friend bool operator==(const PackageTest&, const PackageTest&) = default;
};

/// Tests that only load modules, of other languages than Python: `- perl: {uses: [A::B]}`.
struct ModuleTests {
    PackageTest::Kind kind;
    std::string_view key;      ///< "perl"
    std::string_view modules;  ///< "uses"
    std::string_view package;  ///< that runs them
};
std::span<const ModuleTests> module_tests();

/// What the environments of a test hold beside the package: specs, for each that it asks for.
std::vector<std::vector<std::string>> test_environments(const PackageTest& test);

/// info/tests/tests.yaml of an unpacked package; no such file means no tests.
Result<std::vector<PackageTest>> read_tests(const fs::path& unpacked);

/// The file that read_tests() reads.
std::string tests_text(const std::vector<PackageTest>& tests);

/// A script for `bash -e`, to be run in an activated prefix with that prefix in $PREFIX. Empty when
/// the test is none that a script can do (Contents, Downstream).
std::string test_script(const PackageTest& test);

/// What a test of contents finds wrong with the paths of a package, a line for each.
std::vector<std::string> content_faults(const PackageTest& test,
                                        const std::vector<std::string>& paths);

}  // namespace gpkg
