#include "libcore/closure/page.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("a page says what it weighs, and nothing in a name is markup", "[closure]") {
    PackageRecord bad;
    bad.name = "a&b";
    bad.version = "1<script>alert(1)</script>";
    bad.build = "\"'{{ROWS}}";
    bad.depends = {"b </script><!--"};
    PackageRecord other;
    other.name = "b";
    other.version = "2\xff";
    const Closure closure(RecordGraph({bad, other}), {1234, std::nullopt}, {0});
    const auto page = closure_page(closure, {"x<y {{DATA}}", "to download", [](std::uint64_t n) {
                                                 return std::to_string(n) + " B";
                                             }});
    const auto count = [&](std::string_view text) {
        int found = 0;
        for (auto at = page.find(text); at != std::string::npos; at = page.find(text, at + 1))
            ++found;
        return found;
    };
    CHECK(is_closure_page(page));
    CHECK_FALSE(is_closure_page("<!DOCTYPE html>\n<html>"));
    CHECK(count("<script") == 2);
    CHECK(count("</script") == 2);
    CHECK(count("<!--") == 1);
    CHECK(count("<h1>x&lt;y {{DATA}}</h1>") == 1);
    CHECK(count("a&amp;b") == 2);  // its row, and what holds b
    CHECK(count("1&lt;script&gt;alert(1)") == 1);
    CHECK(count("\"\\\"'{{ROWS}}\"") == 1);
    CHECK(count("1234 B to download in 2 packages") == 1);
    CHECK(count("<td data-value=\"0\">?</td>") == 1);
    // Nothing is fetched.
    CHECK(count("http://www.w3.org/2000/svg") == 1);
    CHECK(count("://") == 1);
    CHECK(count("default-src 'none'") == 1);
}
