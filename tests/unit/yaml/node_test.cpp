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
    CHECK(Node::parse("a: 1\na: 2\n", "f.yml").error().message ==
          "f.yml:2:1: the key 'a' stands here twice");
    CHECK(Node::parse("a: [1\n", "f.yml").error().message.starts_with("f.yml:2:1: "));
    const auto node = Node::parse("a: [1]\n", "f.yml");
    CHECK(node->find("a")->as_text("a name").error().message ==
          "f.yml:1:4: expected a name, found a list");
}

TEST_CASE("quoting keeps strings strings", "[yaml]") {
    CHECK(gpkg::yaml::quote("numpy") == "numpy");
    CHECK(gpkg::yaml::quote("1.10") == "\"1.10\"");
    CHECK(gpkg::yaml::quote("yes") == "\"yes\"");
    CHECK(gpkg::yaml::quote("") == "\"\"");
}
