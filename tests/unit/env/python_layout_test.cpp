#include "libcore/env/python_layout.hpp"

#include "libcore/env/transaction.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace gpkg;

namespace python_layout_test {
namespace {

PackageRecord python(const std::string& version, std::optional<std::string> path = {}) {
    PackageRecord record;
    record.name = "python";
    record.version = version;
    record.build = "py_0";
    record.python_site_packages_path = std::move(path);
    return record;
}

}  // namespace

TEST_CASE("files of noarch python packages go to the environment's python", "[env]") {
    const auto plain = python_layout(python("3.12.3")).value();
    CHECK(plain.version == "3.12");
    CHECK(noarch_target("site-packages/foo.py", plain) == "lib/python3.12/site-packages/foo.py");
    CHECK(noarch_target("python-scripts/foo", plain) == "bin/foo");
    CHECK(noarch_target("share/site-packages/foo", plain) == "share/site-packages/foo");
    CHECK(pyc_path("a/foo.py", plain) == "a/__pycache__/foo.cpython-312.pyc");
    CHECK(pyc_path("foo.py", plain) == "__pycache__/foo.cpython-312.pyc");

    const auto free = python_layout(python("3.13.0rc1", "lib/python3.13t/site-packages")).value();
    CHECK(free.version == "3.13");
    CHECK(noarch_target("site-packages/foo.py", free) == "lib/python3.13t/site-packages/foo.py");
}

TEST_CASE("a python that would put files elsewhere is refused", "[env]") {
    for (const auto* path : {"../evil", "/abs", "a/../../b", ""})
        CHECK(python_layout(python("3.12.0", path)).error().message ==
              fmt::format(
                  "python-3.12.0-py_0: the site-packages path '{}' leads out of the environment",
                  path));
    CHECK(python_layout(python("3")).error().message ==
          "python-3-py_0: not a python version (X.Y...)");
    CHECK_FALSE(python_layout(python("x.y")));
}

TEST_CASE("noarch python packages are linked anew for another python", "[env]") {
    PrefixRecord pure;
    pure.package.noarch = "python";
    PrefixRecord compiled;
    CHECK_FALSE(needs_relink(pure, python("3.12.1"), python("3.12.9")));
    CHECK(needs_relink(pure, python("3.12.1"), python("3.13.0")));
    CHECK(needs_relink(pure, python("3.13.0"), python("3.13.0", "lib/python3.13t/site-packages")));
    CHECK_FALSE(needs_relink(compiled, python("3.12.1"), python("3.13.0")));
}

TEST_CASE("an entry point is a script that calls its function", "[env]") {
    CHECK(entry_point_script("isympy", "main", "/opt/e/bin/python3.12") ==
          "#!/opt/e/bin/python3.12\n"
          "import sys\n"
          "\n"
          "from isympy import main\n"
          "\n"
          "if __name__ == \"__main__\":\n"
          "    sys.exit(main())\n");
    CHECK_THAT(entry_point_script("a.b", "C.run", "/x y/bin/python3.12"),
               ContainsSubstring("from a.b import C\n"));
    CHECK_THAT(entry_point_script("a.b", "C.run", "/x y/bin/python3.12"),
               ContainsSubstring("sys.exit(C.run())"));
    CHECK_THAT(entry_point_script("a.b", "C.run", "/x y/bin/python3.12"),
               ContainsSubstring("#!/bin/sh\n'''exec' \"/x y/bin/python3.12\" \"$0\""));
}

}  // namespace python_layout_test
