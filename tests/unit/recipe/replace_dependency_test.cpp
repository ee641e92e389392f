#include "libcore/recipe/replace_dependency.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace replace_dependency_test {
namespace {

const std::string kHead = "package: {name: a, version: \"1\"}\n";

Result<std::string> replaced(const std::string& requirements, const Texts& instead) {
    const auto recipe = parse_recipe(kHead + requirements, "/r/recipe.yaml");
    REQUIRE(recipe);
    auto text = replace_run_dependency(*recipe, "cuda-toolkit 12.9.*", instead);
    if (!text) return text;
    CHECK(text->starts_with(kHead));
    CHECK(parse_recipe(*text, "/r/recipe.yaml"));  // it is still a recipe
    return text->substr(kHead.size());
}

}  // namespace

TEST_CASE("one dependency is replaced, and nothing else changes", "[build]") {
    struct Row {
        std::string before, with_two, with_none;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"requirements:\n  host:\n    - cuda-toolkit 12.9.*\n  run:\n    # why\n    - cuda-toolkit 12.9.*  # all\n    - zlib\n",
         "requirements:\n  host:\n    - cuda-toolkit 12.9.*\n  run:\n    # why\n    - \"a >=1,<2\"\n    - \"b\"  # all\n    - zlib\n",
         "requirements:\n  host:\n    - cuda-toolkit 12.9.*\n  run:\n    # why\n    - zlib\n"},
        {"requirements: {run: [x, cuda-toolkit 12.9.*, y]}",
         "requirements: {run: [x, \"a >=1,<2\", \"b\", y]}",
         "requirements: {run: [x, y]}"},
        {"requirements: {run: [x, 'cuda-toolkit 12.9.*']}",
         "requirements: {run: [x, \"a >=1,<2\", \"b\"]}",
         "requirements: {run: [x]}"},
        {"requirements: {run: [cuda-toolkit 12.9.*]}",
         "requirements: {run: [\"a >=1,<2\", \"b\"]}",
         "requirements: {run: []}"},
        {"requirements:\n  run: cuda-toolkit 12.9.*\n",
         "requirements:\n  run: [\"a >=1,<2\", \"b\"]\n",
         "requirements:\n  run: []\n"},
        {"requirements:\n  run:\n    - if: linux\n      then: \"cuda-toolkit 12.9.*\"\n      else: x\n",
         "requirements:\n  run:\n    - if: linux\n      then: [\"a >=1,<2\", \"b\"]\n      else: x\n",
         "requirements:\n  run:\n    - if: linux\n      then: []\n      else: x\n"},
        {"requirements:\n  run:\n    - if: linux\n      then:\n      - cuda-toolkit 12.9.*",
         "requirements:\n  run:\n    - if: linux\n      then:\n      - \"a >=1,<2\"\n      - \"b\"",
         "requirements:\n  run:\n    - if: linux\n      then:\n"},
    }));
    // clang-format on
    CAPTURE(row.before);
    const auto text = [](Result<std::string> result) {
        return result ? *result : result.error().message;
    };
    CHECK(text(replaced(row.before, {"a >=1,<2", "b"})) == row.with_two);
    CHECK(text(replaced(row.before, {})) == row.with_none);
}

TEST_CASE("what cannot be told apart is left alone", "[build]") {
    const auto kind = [](const std::string& requirements) {
        return replaced(requirements, {"a"}).error().kind;
    };
    CHECK(kind("requirements: {run: [cuda-toolkit 12.8.*]}") == ErrorKind::NotFound);
    CHECK(kind("requirements: {host: [cuda-toolkit 12.9.*]}") == ErrorKind::NotFound);
    CHECK(kind("requirements: {run: [\"cuda-toolkit ${{ cuda }}.*\"]}") == ErrorKind::NotFound);
    CHECK(kind("requirements: {run: [cuda-toolkit 12.9.*, x, cuda-toolkit 12.9.*]}") ==
          ErrorKind::Conflict);
}

}  // namespace replace_dependency_test
