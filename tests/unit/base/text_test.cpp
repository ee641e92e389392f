#include "libcore/base/text.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("every occurrence is replaced, and what is put there is not searched again", "[base]") {
    CHECK(replace_all("a/b/c", "/", "//") == "a//b//c");
    CHECK(replace_all("aaa", "aa", "a") == "aa");
    CHECK(replace_all("text", "", "x") == "text");
    CHECK(replace_all("", "a", "b").empty());
}

TEST_CASE("near names are those a person may have meant", "[base]") {
    const std::vector<std::string> names{
        "numpy", "numba", "pytorch", "torchvision", "pandas", "python", "pip"};
    CHECK(near_names("nunpy", names) == std::vector<std::string>{"numpy"});
    CHECK(near_names("torch", std::vector<std::string>{"orc", "pooch", "pytorch"}) ==
          std::vector<std::string>{"pytorch"});
    CHECK(near_names("nmpy", std::vector<std::string>{"empy", "numpy"}).front() == "numpy");
    CHECK(near_names("nmupy", names) == std::vector<std::string>{"numpy"});
    CHECK(near_names("torch", names) == std::vector<std::string>{"pytorch", "torchvision"});
    CHECK(near_names("zlib", names).empty());
    CHECK(near_names("nosuch", std::vector<std::string>{"vouch"}).empty());
    CHECK(near_names("analysys", std::vector<std::string>{"analysis", "analysis"}) ==
          std::vector<std::string>{"analysis"});
    CHECK(near_names("h", std::vector<std::string>{"a", "b"}).empty());
    CHECK(near_names("cuda", std::vector<std::string>{"cudatoolkit", "pytorch-cuda"}) ==
          std::vector<std::string>{"cudatoolkit", "pytorch-cuda"});
}

TEST_CASE("UTF-16 is told by its mark", "[base]") {
    using namespace std::string_literals;
    CHECK(in_utf8("\xFF\xFE"
                  "a\0\xe9\0\xac\x20\x3d\xd8\x00\xde"s) == "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK(in_utf8("\xFE\xFF\0a"s) == "a");
    CHECK(in_utf8("\xFF\xFE\x3d\xd8"
                  "a\0b"s) ==
          "\xef\xbf\xbd"
          "a");
    CHECK(in_utf8("a\xc3\xa9") == "a\xc3\xa9");
    CHECK(in_utf8("").empty());
}

TEST_CASE("split keeps empty pieces", "[base]") {
    CHECK(split("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
    CHECK(split("", ',') == std::vector<std::string_view>{""});
}

TEST_CASE("lists for people", "[base]") {
    CHECK(count_text(1, "package") == "1 package");
    CHECK(count_text(0, "package") == "0 packages");
    CHECK(join_or(std::vector<std::string>{"a"}) == "a");
    CHECK(join_or(std::vector<std::string>{"a", "b", "c"}) == "a, b or c");
    const std::vector<std::string> five{"a", "b", "c", "d", "e"};
    CHECK(join_some(five, "and", 5) == "a, b, c, d and e");
    CHECK(join_some(five, "or", 4) == "a, b, c, d or e");
    CHECK(join_some(five, "and") == "a, b, c and 2 others");
    CHECK(join_some({}, "and").empty());
    CHECK(count_text(1, "package") == "1 package");
    CHECK(count_text(0, "file") == "0 files");
    CHECK(count_text(26330, "file") == "26,330 files");
}

TEST_CASE("a stranger's text does not steer the terminal", "[text]") {
    CHECK(printable("GPL-2.0 a\\b") == "GPL-2.0 a\\b");
    CHECK(printable("\x1b[31m\r\n\x7f") == "\\x1b[31m\\x0d\\x0a\\x7f");
    CHECK(printable("é") == "\\xc3\\xa9");
    CHECK(printable(std::string(201, 'x')) == std::string(200, 'x') + "...");
    CHECK(printable("abc", 3) == "abc");
    CHECK(printable("abcd", 3) == "abc...");
}
