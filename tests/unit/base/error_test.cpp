#include "libcore/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("an error as text: outer steps, the cause, the hint", "[base]") {
    const Error error{ErrorKind::Parse, "a.yml:3: expected a list", "use [a, b]", {}};
    CHECK(error.to_string() == "a.yml:3: expected a list\n  hint: use [a, b]");
    CHECK(Error(error).while_doing("reading a.yml").while_doing("setup").to_string() ==
          "setup: reading a.yml: a.yml:3: expected a list\n  hint: use [a, b]");
}

TEST_CASE("fixes stand between the cause and the hint", "[base]") {
    Error error{ErrorKind::Unsatisfiable, "package 'pyton' not found", "add -c x", {}};
    error.fixes = {"gpkg create python", "# first: edit a.yml\n  gpkg create -f a.yml"};
    CHECK(error.to_string() ==
          "package 'pyton' not found\npossible fixes:\n  gpkg create python\n"
          "  # first: edit a.yml\n  gpkg create -f a.yml\n  hint: add -c x");
}

TEST_CASE("a failure tells what is missing, and whether offline mode is the reason", "[base]") {
    CHECK(fail_missing(ErrorKind::NotFound, "/x: no such folder", "/x").value().missing_path ==
          "/x");
    CHECK(fail_offline(ErrorKind::Network, "a: not in the cache", "retry").value().is_offline);
    CHECK_FALSE(fail(ErrorKind::Network, "a: HTTP 404").value().is_offline);
}

TEST_CASE("a hint about an environment names it by its path, and knows that path", "[base]") {
    const auto error = with_environment_hint({ErrorKind::Conflict, "busy", {}, {}},
                                             "gpkg repair {0}; or gpkg remove --all {0}",
                                             "/a place/env");
    CHECK(error.hint == "gpkg repair -p '/a place/env'; or gpkg remove --all -p '/a place/env'");
    CHECK(error.environment == "/a place/env");
}
