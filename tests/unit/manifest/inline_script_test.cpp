#include "libcore/manifest/inline_script.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace inline_script_test {

TEST_CASE("the packages that a script names", "[manifest]") {
    const auto specs = inline_script_specs(
        "#!/usr/bin/env python\r\n"
        "# /// script\r\n"
        "# requires-python = \">=3.11,<4\"  # \"no\"\r\n"
        "# dependencies = [\r\n"
        "#   'requests < 3',  # \"neither\"\r\n"
        "#   \"NumPy\", \"rich (>=13)\",\r\n"
        "# ]\r\n"
        "#\r\n"
        "# [tool.other]\r\n"
        "# dependencies = [\"scipy\"]\r\n"
        "# ///\r\n"
        "import requests\r\n");
    REQUIRE(specs);
    CHECK(*specs == Texts{"python>=3.11,<4", "requests<3", "numpy", "rich>=13"});
}

TEST_CASE("scripts without packages", "[manifest]") {
    for (const auto* text : {"",
                             "import numpy\n",
                             "# /// script\n# dependencies = [\"numpy\"]\n",
                             "# /// script\n# dependencies = [\"numpy\"]\nimport numpy\n# ///\n",
                             "# /// script\n# dependencies = []\n# ///",
                             "# /// other\n# dependencies = [\"numpy\"]\n# ///\n"}) {
        const auto specs = inline_script_specs(text);
        REQUIRE(specs);
        CHECK(specs->empty());
    }
}

TEST_CASE("requirements of a script that no spec can express", "[manifest]") {
    for (const auto* requirement :
         {"requests[socks]", "tomli; python_version < '3.11'", "x @ https://example.org/x.whl"}) {
        const auto specs = inline_script_specs(std::string("# /// script\n# dependencies = [\"") +
                                               requirement + "\"]\n# ///\n");
        REQUIRE_FALSE(specs);
        CHECK(specs.error().message.find(requirement) != std::string::npos);
    }
}

}  // namespace inline_script_test
