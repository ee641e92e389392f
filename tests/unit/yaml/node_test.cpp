#include "libcore/yaml/node.hpp"

#include "tests/support/catch.hpp"

using gpkg::yaml::Node;

TEST_CASE("scalars stay text and know their place", "[yaml]") {
    const auto node =
        Node::parse("version: 1.10\nname: \"1.10\"\nlist:\n  - a\n  - b\n", "env.yml");
    REQUIRE(node);
    CHECK(node->find("version")->text() == "1.10");
    CHECK_FALSE(node->find("version")->is_quoted());
    CHECK(node->find("name")->is_quoted());
    CHECK(node->find("list")->items()[1].place() == "env.yml:5:5");
    CHECK(node->find("list")->key_place() == "env.yml:3:1");
    CHECK(node->key_place() == node->place());
    CHECK(node->find("none") == nullptr);
}

TEST_CASE("what is wrong is told with its place", "[yaml]") {
    CHECK(Node::parse("a: 1\na: 2\n", "f.yml").error().message == "f.yml:2:1: duplicate key 'a'");
    CHECK(Node::parse("a: {{ b }}\n", "f.yml").error().message ==
          "f.yml:1:5: '{{ ... }}' is not a string");
    CHECK(Node::parse("a: [1\n", "f.yml").error().message.starts_with("f.yml:2:1: "));
    const auto node = Node::parse("a: [1]\n", "f.yml");
    CHECK(node->find("a")->as_text("a name").error().message ==
          "f.yml:1:4: expected a name, found a list");
    CHECK(Node::parse("a: 1\n---\nb: 2\n", "f.yml").error().message ==
          "f.yml:3:1: more than one YAML document");
    CHECK(Node::parse("--- # of gpkg\na: 1\n---\n", "f.yml")->find("a") != nullptr);
    CHECK(Node::parse("", "f.yml")->place() == "f.yml");
    // yaml-cpp would read another letter there.
    CHECK(Node::parse("a: 1\nb: caf\xe9\n", "f.yml").error().message == "f.yml:2: not UTF-8");
    CHECK(Node::parse("a: caf\xc3\xa9", "f.yml")->find("a") != nullptr);
}

TEST_CASE("quoting keeps strings strings", "[yaml]") {
    CHECK(gpkg::yaml::quote("numpy") == "numpy");
    CHECK(gpkg::yaml::quote("1.10") == "\"1.10\"");
    CHECK(gpkg::yaml::quote("yes") == "\"yes\"");
    CHECK(gpkg::yaml::quote("") == "\"\"");
}

TEST_CASE("only what every reader takes for a string stays without quotes", "[yaml]") {
    // As it is written; those of a person's eye, and those that are numbers, moments or marks.
    for (const auto* plain : {"python >=3.12,<3.13.0a0",
                              "6.1.0",
                              "https://conda.anaconda.org/conda-forge",
                              "3f07f990ac74f1e1691ba17ef8c14007f05846ab",
                              "Apache-2.0 OR MIT"})
        CHECK(gpkg::yaml::quote(plain) == plain);
    for (const auto* text : {"123456789",
                             "1234e5678",
                             "0x12345",
                             "2026-01-01T00:00:00Z",
                             "false",
                             "a: b  ",
                             "word # no",
                             "ends in space ",
                             "- item",
                             "{a: b}",
                             "line\nline",
                             "a:b\t",
                             "\x1b[2J"}) {
        CAPTURE(text);
        const auto quoted = gpkg::yaml::quote(text);
        CHECK((quoted.front() == '"' && quoted.back() == '"'));
        CHECK(Node::parse(quoted, "f")->text() == text);
    }
}

TEST_CASE("a node in one line says the same", "[yaml]") {
    struct Row {
        std::string text, line;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"a:\n- b >=1,<2\n- \"1\"\n- 1.10\nc:\n  d: ~\n", "{a: [\"b >=1,<2\", \"1\", 1.10], c: {d: ~}}"},
        {"[]",              "[]"},
        {"{}",              "{}"},
        {"'plain'",         "plain"},
        {"'yes'",           "\"yes\""},
        {"a, b",            "\"a, b\""},
        {"''",              "\"\""},
        {"",                "~"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto line = gpkg::yaml::one_line(*Node::parse(row.text, "f"));
    CHECK(line == row.line);
    CHECK(gpkg::yaml::one_line(*Node::parse(line, "f")) == line);
}
