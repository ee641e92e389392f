#include "libcore/env/placeholder.hpp"

#include "libcore/fs/file.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;
using namespace std::string_literals;

namespace placeholder_test {
namespace {

std::string wide(const std::string& text, std::size_t unit, bool big) {
    std::string out;
    for (const char c : text) {
        std::string one(unit, '\0');
        (big ? one.back() : one.front()) = c;
        out += one;
    }
    return out;
}

}  // namespace

TEST_CASE("text placeholders are replaced, and shebangs stay ones the kernel starts", "[env]") {
    const std::string far = "/" + std::string(120, 'x');
    struct Row {
        std::string text, prefix, expected;
    };
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"a=/placehold/x\nb=/placehold", "/opt/e", "a=/opt/e/x\nb=/opt/e"},
        {"nothing", "/opt/e", "nothing"},
        {"#!/placehold/bin/python -E\nx", "/opt/e", "#!/opt/e/bin/python -E\nx"},
        {"#! /placehold/bin/perl\nx", "/opt/e", "#!/opt/e/bin/perl\nx"},
        {"#!/placehold/bin/python -E\nx", "/a b", "#!/bin/sh\n'''exec' \"/a b/bin/python\" -E \"$0\" \"$@\" #'''\nx"},
        {"#!/placehold/bin/python3.12\nx", far, "#!/bin/sh\n'''exec' \"" + far + "/bin/python3.12\" \"$0\" \"$@\" #'''\nx"},
        {"#!/placehold/bin/perl\nx", "/a b", "#!/usr/bin/env perl\nx"},
        {"#!/placehold/bin/perl -w\nx", "/a b", "#!/usr/bin/env -S perl -w\nx"},
        {"#!/usr/bin/env python\n/placehold", "/a b", "#!/usr/bin/env python\n/a b"},
        {"#!/placehold/bin/python", "/a$b`c", "#!/a$b`c/bin/python"},
        {"#!/placehold/bin/python", "/a $b`c", "#!/bin/sh\n'''exec' \"/a \\$b\\`c/bin/python\" \"$0\" \"$@\" #'''"},
        {"#!", "/e", "#!"},
    }));
    // clang-format on
    CAPTURE(row.text, row.prefix);
    CHECK(replace_in_text(row.text, "/placehold", row.prefix) == row.expected);
}

TEST_CASE("a large text is replaced in pieces, and its growth is bounded", "[env]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto file = folder->path() / "text";
    const auto in_pieces = [&](std::string_view placeholder, std::string_view prefix) {
        std::string out;
        const auto done =
            replace_in_text_file(file, placeholder, prefix, [&](std::string_view piece) {
                out += piece;
                return 0;
            });
        REQUIRE(done);
        CHECK(*done == 0);
        return out;
    };
    std::string text = "#!/built/here/bin/python -E\n";
    while (text.size() < 3'000'000) text += std::string(text.size() % 97, 'x') + "/built/here/lib:";
    REQUIRE(write_file_atomically(file, text));
    for (const std::string prefix : {"/e", "/a/longer/prefix/than/the/placeholder"}) {
        CHECK(in_pieces("/built/here", prefix) == replace_in_text(text, "/built/here", prefix));
        CHECK(check_growth(file, "/built/here", prefix, "text"));
    }
    REQUIRE(write_file_atomically(file, ""));
    CHECK(in_pieces("/built/here", "/e").empty());
    REQUIRE(write_file_atomically(file, "/built/here"));
    CHECK(in_pieces("/built/here", "/e") == "/e");
    REQUIRE(write_file_atomically(file, std::string(400'000, 'a')));
    const std::string prefix = "/" + std::string(99, 'p');
    CHECK(check_growth(file, "a", "b", "text"));
    CHECK(check_growth(file, "a", prefix, "text").error().message ==
          "text: refused: a text of 400000 bytes would grow to 40000000 bytes (its prefix "
          "placeholder \"a\" occurs 400000 times)");
}

TEST_CASE("strings in binaries keep their length", "[env]") {
    const auto replaced = [](const std::string& bytes, const std::string& prefix) {
        return replace_in_binary(bytes, "/placehold", prefix, "lib/x.so").value();
    };
    CHECK(replaced("X/placehold/lib:/placehold/bin\0Y"s, "/opt/e") ==
          "X/opt/e/lib:/opt/e/bin"s + std::string(9, '\0') + "Y");
    CHECK(replaced("a/placehold/x"s, "/opt/e") == "a/opt/e/x"s + std::string(4, '\0'));
    CHECK(replaced("/placehold\0/placehold\0z"s, "/placehold") == "/placehold\0/placehold\0z"s);
    CHECK(replaced("/placehold\0/placehold/b\0z"s, "/e") ==
          "/e"s + std::string(9, '\0') + "/e/b" + std::string(9, '\0') + "z");
    CHECK(replaced("none\0"s, "/e") == "none\0"s);

    for (const std::size_t unit : {2U, 4U}) {
        for (const bool big : {false, true}) {
            CAPTURE(unit, big);
            const auto bytes = "ab" + wide("/placehold/bin"s + '\0', unit, big) + "rest";
            const auto expected =
                "ab" + wide("/opt/e/bin"s + std::string(5, '\0'), unit, big) + "rest";
            CHECK(replaced(bytes, "/opt/e") == expected);
        }
    }

    const auto longer = replace_in_binary("x", "/placehold", "/longer/than", "lib/x.so");
    REQUIRE_FALSE(longer);
    CHECK(longer.error().to_string() ==
          "lib/x.so: the path of the environment is too long: 10 bytes are allowed, '/longer/than' "
          "has 12\n"
          "  hint: choose a shorter path for the environment");
}

TEST_CASE("changes to a file are those of its bytes in memory", "[env]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto file = root->path() / "file";
    const std::string from = "/placehold";
    // Strings over the end of a piece that files are read in, in all encodings, one after the
    // other, several in one string, longer than what is read at first, and one that ends with the
    // file.
    std::string bytes((std::size_t{1} << 20U) - 5, 'x');
    bytes += '\0' + from + "/a:" + from + "/b" + '\0';
    for (const std::size_t unit : {2U, 4U}) {
        for (const bool big : {false, true})
            bytes += std::string(7, '\0') + wide(from + "/w:" + from, unit, big) +
                     std::string(unit, '\0');
    }
    bytes += from + std::string(10000, 'y') + from + '\0' + from + '\0';
    bytes += std::string(std::size_t{2} << 20U, '\0') + from + "/end";
    REQUIRE(write_file_atomically(file, bytes));
    for (const std::string to : {"/e", "/placehold", "/opt/env", "/\xc3\xa4"}) {
        CAPTURE(to);
        const auto changes = changes_in_binary(file, from, to, "lib/x.so");
        REQUIRE(changes);
        auto changed = bytes;
        for (const auto& change : *changes)
            changed.replace(change.at, change.bytes.size(), change.bytes);
        CHECK(changed == replace_in_binary(bytes, from, to, "lib/x.so").value());
    }
    CHECK(changes_in_binary(file, from, "/much/too/long", "x").error().kind ==
          ErrorKind::Unsupported);
}

}  // namespace placeholder_test
