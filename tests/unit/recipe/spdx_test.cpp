#include "libcore/recipe/spdx.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("SPDX's own examples are licences, as are what recipes of conda-forge write",
          "[recipe]") {
    for (const auto* text : {
             // SPDX 2.3, annex D
             "CDDL-1.0",
             "CDDL-1.0+",
             "LicenseRef-23",
             "LicenseRef-MIT-Style-1",
             "DocumentRef-spdx-tool-1.2:LicenseRef-MIT-Style-2",
             "LGPL-2.1-only OR MIT",
             "LGPL-2.1-only OR MIT OR BSD-3-Clause",
             "LGPL-2.1-only AND MIT AND BSD-2-Clause",
             "GPL-2.0-or-later WITH Bison-exception-2.2",
             "LGPL-2.1-only OR BSD-3-Clause AND MIT",
             "MIT AND (LGPL-2.1-or-later OR BSD-3-Clause)",
             // recipes
             "Apache-2.0 WITH LLVM-exception",
             "LicenseRef-NVIDIA-End-User-License-Agreement",
             "GPL-2.0",
             "GPL-3.0-only WITH GCC-exception-3.1",
             "bsd-3-clause",
             "MIT and\n((Zlib))",
         }) {
        CAPTURE(text);
        CHECK_FALSE(license_fault(text));
    }
}

TEST_CASE("what is no SPDX licence is told with what it may be", "[recipe]") {
    const auto message = [](const char* text) { return license_fault(text).value().message; };
    CHECK(message("GPL") == "unknown SPDX licence 'GPL'");
    CHECK(license_fault("GPL")->hint.starts_with(
        "did you mean GPL-1.0-only, GPL-1.0-or-later, GPL-2.0-only"));
    CHECK(license_fault("Apache 2.0")->message == "unknown SPDX licence 'Apache'");
    CHECK(license_fault("Apache 2.0")->hint.starts_with("did you mean Apache-2.0?"));
    CHECK(license_fault("Frobnicate")->hint.find("LicenseRef-NAME") != std::string::npos);
    CHECK(message("") == "the licence is empty");
    CHECK(message("MIT Zlib") == "missing AND, OR or WITH before 'Zlib'");
    CHECK(message("MIT OR") == "missing licence at the end");
    CHECK(message("(MIT") == "missing ')'");
    CHECK(message("MIT)") == "unmatched ')'");
    CHECK(message("AND MIT") == "unknown SPDX licence 'AND'");
    CHECK(message("GPL-2.0-only WITH") == "missing exception after WITH");
    CHECK(message("GPL-2.0-only WITH MIT") == "unknown SPDX exception 'MIT'");
    CHECK(message("LicenseRef-") == "unknown SPDX licence 'LicenseRef-'");
    CHECK(message("DocumentRef-x") == "unknown SPDX licence 'DocumentRef-x'");
    CHECK(message(std::string(100000, '(').c_str()) == "too many nested '('");
}
