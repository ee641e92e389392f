#include "libcore/manifest/environment_yml.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace environment_yml_test {
namespace {

std::optional<std::string> lookup(std::string_view name) {
    if (name == "TOKEN") return "secret";
    if (name == "WHERE") return "/data";
    return std::nullopt;
}

Result<Manifest> read(std::string_view text, const std::string& platform = "linux-64") {
    return parse_environment_yml(text, "env.yml", {platform, "/home/me", lookup});
}

Texts specs(const Manifest& manifest) {
    Texts texts;
    for (const auto& spec : manifest.dependencies) texts.push_back(spec.to_string());
    return texts;
}

}  // namespace

TEST_CASE("an environment.yml with everything", "[manifest]") {
    const auto manifest = read(R"(name: ml
channels:
  - conda-forge
  - https://host/t/$TOKEN/c
  - conda-forge
dependencies:
  - numpy >=1.26
  - python=3.12
  - pip
  - pip:
    - scipy
    - -r more.txt
variables:
  A: 1
  B: 1.10
  C: "yes"
  D:
platforms: [linux-64, osx-arm64]
category: dev
)");
    REQUIRE(manifest);
    CHECK(manifest->name == "ml");
    CHECK_FALSE(manifest->prefix);
    CHECK(manifest->channels == Texts{"conda-forge", "https://host/t/secret/c"});
    CHECK(specs(*manifest) == Texts{"numpy[version='>=1.26']", "python=3.12", "pip"});
    CHECK(manifest->pip == Texts{"scipy", "-r more.txt"});
    CHECK(manifest->variables ==
          std::map<std::string, std::string>{{"A", "1"}, {"B", "1.10"}, {"C", "yes"}, {"D", ""}});
    CHECK(manifest->platforms == Texts{"linux-64", "osx-arm64"});
    CHECK(manifest->category == "dev");
    CHECK(manifest->warnings.empty());
}

TEST_CASE("dependencies alone are enough", "[manifest]") {
    const auto manifest = read("dependencies: [numpy]");
    REQUIRE(manifest);
    CHECK_FALSE(manifest->name);
    CHECK(specs(*manifest) == Texts{"numpy"});
    CHECK(manifest->channels_before({"d"}) == Texts{"d"});
    CHECK(specs(*read("dependencies:\n")).empty());
}

TEST_CASE("configured channels follow those of the file", "[manifest]") {
    const auto with = read("channels: [conda-forge, d]\ndependencies: []");
    CHECK(with->channels_before({"d", "e"}) == Texts{"conda-forge", "d", "e"});
    const auto without = read("channels: [conda-forge, nodefaults]\ndependencies: []");
    CHECK(without->channels_before({"d"}) == Texts{"conda-forge"});
    CHECK(without->channels == Texts{"conda-forge"});
}

TEST_CASE("names and prefixes are expanded", "[manifest]") {
    CHECK(read("prefix: ~/envs/x\ndependencies: []")->prefix == "/home/me/envs/x");
    CHECK(read("prefix: ${WHERE}/x/\ndependencies: []")->prefix == "/data/x");
    CHECK(read("prefix: /a/$NONE\ndependencies: []")->prefix == "/a/$NONE");
    CHECK_FALSE(read("name:\ndependencies: []")->name);
    const auto renamed = parse_environment_yml(
        "name: base\nprefix: /usr\ndependencies: []", "env.yml", {"linux-64", "/h", {}, true});
    REQUIRE(renamed);
    CHECK_FALSE(renamed->name);
    CHECK_FALSE(renamed->prefix);
}

TEST_CASE("selectors of both styles choose dependencies", "[manifest]") {
    const std::string keys = "dependencies:\n- sel(win): pywin32\n- sel(unix): sh >=1\n";
    CHECK(specs(*read(keys)) == Texts{"sh[version='>=1']"});
    CHECK(specs(*read(keys, "win-64")) == Texts{"pywin32"});
    const std::string lines = "dependencies:\n- pywin32  # [win]\n- a  # [linux and x86_64]\n";
    CHECK(specs(*read(lines)) == Texts{"a"});
    CHECK(specs(*read(lines, "win-64")) == Texts{"pywin32"});
    CHECK(specs(*read(lines, "osx-64")).empty());
    // Whatever lines end with.
    for (const auto* end : {"\r\n", "\r"}) {
        std::string other;
        for (const char c : lines) other += c == '\n' ? std::string(end) : std::string(1, c);
        CHECK(specs(*read(other)) == Texts{"a"});
    }
}

TEST_CASE("what is odd but understood earns a warning", "[manifest]") {
    struct Row {
        std::string text, warning;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"dependencies: []\nfoo: 1",              "env.yml:2:1: unknown key 'foo' ignored"},
        {"dependencies: []\nfoo:\n  - a",         "env.yml:2:1: unknown key 'foo' ignored"},
        {"dependencies: []\nchannel: [a]",        "env.yml:2:1: unknown key 'channel' ignored; did you mean channels?"},
        {"dependencies: [numpy, Numpy]",          "env.yml:1:23: 'Numpy' is listed twice"},
        {"dependencies:\n- pip:\n  - x",          "env.yml:2:3: the 'pip:' section needs pip; pip was added to the dependencies"},
        {"dependencies: []\nplatforms: [osx-64]", "env.yml:2:1: made for osx-64, not for linux-64"},
        {"dependencies:\n- a  # [win]\n- sel(win): b\n- c",
         "env.yml:3:3: the file mixes two styles of selectors; other tools may support only one"},
        {"dependencies:\n- a  # [optional]",
         "env.yml:2: [optional]: treated as a comment: not a platform selector"},
        {"dependencies:\n- a  # [py39]",
         "env.yml:2: [py39]: treated as a comment: not a platform selector"},
        {"dependencies:\n- a  # [win]",
         "env.yml: no packages for linux-64: all are selected for other platforms"},
    }));
    // clang-format on
    const auto manifest = read(row.text);
    REQUIRE(manifest);
    CHECK(manifest->warnings == Texts{row.warning});
}

TEST_CASE("pip is added only where it is missing and needed", "[manifest]") {
    CHECK(specs(*read("dependencies:\n- pip: [x]")) == Texts{"pip"});
    CHECK(specs(*read("dependencies:\n- c::pip >=24\n- pip: [x]")) ==
          Texts{"c::pip[version='>=24']"});
    CHECK(specs(*read("dependencies:\n- pip:\n")).empty());
    CHECK(read("dependencies:\n- pip: [a]\n- pip: [b]")->pip == Texts{"a", "b"});
}

TEST_CASE("mistakes are told with their place", "[manifest]") {
    struct Row {
        std::string text, message;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"",                                        "env.yml: the key 'dependencies' is missing"},
        {"name: a",                                 "env.yml: the key 'dependencies' is missing"},
        {"name: a\ndependancies: [numpy]",          "env.yml:2:1: unknown key 'dependancies'"},
        {"- numpy",                                 "env.yml:1:1: expected a map with the key 'dependencies', found a list"},
        {"dependencies: numpy",                     "env.yml:1:15: expected a list of packages, found a single value"},
        {"dependencies:\n  numpy: 1",               "env.yml:2:3: expected a list of packages, found a map"},
        {"dependencies: [[a]]",                     "env.yml:1:16: expected a package, found a list"},
        {"dependencies:\n-\n- a\n",                 "env.yml:2:1: the first entry of the list is empty"},
        {"dependencies:\n- a\n-\n",                 "env.yml:2:3: the entry after a is empty"},
        {"dependencies:\n- a\n- pip: [b]\n- null\n", "env.yml:3:3: the entry after this one is empty"},
        {"dependencies:\n- npm: [x]",               "env.yml:2:3: unknown installer 'npm:'"},
        {"dependencies:\n- python: 3.12",           "env.yml:2:3: 'python: 3.12' is not a package spec"},
        {"dependencies:\n- pip: {a: 1}",            "env.yml:2:8: expected a list of requirements for pip, found a map"},
        {"dependencies:\n- sel(linux64): a",        "env.yml:2:3: sel(linux64): expected unix, linux, osx or win"},
        {"dependencies:\n- sel(linux): [a]",        "env.yml:2:15: expected a package, found a list"},
        {"dependencies:\n- a  # [linus]",           "env.yml:2: the selector [linus]: unknown name 'linus'"},
        {"name: a b\ndependencies: []",             "env.yml:1:7: the name 'a b' must not contain ' '"},
        {"name: a/b\ndependencies: []",             "env.yml:1:7: the name 'a/b' must not contain '/'"},
        {"name: a:b\ndependencies: []",             "env.yml:1:7: the name 'a:b' must not contain ':'"},
        {"name: base\ndependencies: []",            "env.yml:1:7: 'base' is the name of the root prefix"},
        {"name: ..\ndependencies: []",              "env.yml:1:7: '..' is not a valid name"},
        {"name: ml-${NOWHERE}\ndependencies: []",   "env.yml:1:7: the name ml-${NOWHERE} contains a variable that is not set"},
        {"name: ''\ndependencies: []",              "env.yml:1:7: '' is not a valid name"},
        {"name: [a]\ndependencies: []",             "env.yml:1:7: expected a name, found a list"},
        {"name: a\nname: b\ndependencies: []",      "env.yml:2:1: duplicate key 'name'"},
        {"prefix: /usr\ndependencies: []",          "env.yml:1:9: the prefix /usr is a system folder or your home folder"},
        {"prefix: ~\ndependencies: []\nname: x",    ""},
        {"prefix: '~'\ndependencies: []",           "env.yml:1:9: the prefix /home/me is a system folder or your home folder"},
        {"prefix: C:\\e\nname: x\ndependencies: []", ""},
        {"prefix: /a/b#c\ndependencies: []",        "env.yml:1:9: the last part of the prefix 'b#c' must not contain '#'"},
        {"channels: {a: b}\ndependencies: []",      "env.yml:1:11: expected a list of channels, found a map"},
        {"channels: ['']\ndependencies: []",        "env.yml:1:11: a channel is empty"},
        {"variables: [A=1]\ndependencies: []",      "env.yml:1:12: expected variables as 'NAME: value', found a list"},
        {"variables: {1A: x}\ndependencies: []",    "env.yml:1:13: '1A' is not a valid variable name"},
        {"variables: {A: [x]}\ndependencies: []",   "env.yml:1:16: expected the value of A, found a list"},
        {"platforms: [noarch]\ndependencies: []",   "env.yml:1:12: noarch is not a platform"},
        {"platforms: [linux64]\ndependencies: []",  "env.yml:1:12: unknown platform 'linux64'"},
        {"category: []\ndependencies: []",          "env.yml:1:11: expected a category, found a list"},
        {"dependencies: [a",                        "env.yml:1:1: unclosed list: missing ']'"},
        {"variables: {a: b",                        "env.yml:1:1: unclosed map: missing '}'"},
        {"dependencies:\n\t- a",                    "env.yml:2: tab in the indentation"},
        {"dependencies:\n  - a\n - b",             "env.yml:3:2: this line does not belong to the list or map above it"},
        {"dependencies:\n  - a: 3\n   - b",        "env.yml:3:4: this line does not belong to the list or map above it"},
        {"name: x\n dependencies: []",             "env.yml:2:14: unexpected ':'"},
        {"dependencies: [@a]",                      "env.yml:1:16: a string that starts like this needs quotes"},
        {"dependencies:\n- pip:\n \t- a\n- b",      "env.yml:3: tab in the indentation"},
    }));
    // clang-format on
    CAPTURE(row.text);
    const auto manifest = read(row.text);
    // In YAML a bare ~ is nothing at all.
    if (row.message.empty()) {
        REQUIRE(manifest);
        CHECK_FALSE(manifest->prefix);
        return;
    }
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().message == row.message);
    CHECK(manifest.error().kind == ErrorKind::Parse);
}

TEST_CASE("what is wrong with an indentation comes with a hint", "[manifest]") {
    const auto manifest = read("dependencies:\n  - a\n - b");
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().hint ==
          "check the indentation, the '- ' of list items and the ':' of keys");
}

TEST_CASE("a wrong spec shows the file, the line and the spot", "[manifest]") {
    const auto manifest = read("name: x\ndependencies:\n  - numpy >=1.2<2\n");
    REQUIRE_FALSE(manifest);
    const auto& message = manifest.error().message;
    CAPTURE(message);
    CHECK(message.starts_with("env.yml:3:5: numpy >=1.2<2: "));
    CHECK(message.ends_with("\n  numpy >=1.2<2\n             ^"));
}

TEST_CASE("no damage to a file goes further than an error", "[manifest]") {
    const std::string whole =
        "name: ml  # [linux]\nchannels: [a, $TOKEN]\ndependencies:\n- numpy >=1\n"
        "- sel(unix): sh\n- pip:  # [not (win or osx)]\n  - 'x'\nvariables: {A: \"1\"}\n";
    for (std::size_t at = 0; at < whole.size(); ++at) {
        const auto cut = read(whole.substr(0, at));
        CHECK((cut || cut.error().message.starts_with("env.yml")));
        for (const char c : {'\0', '#', '[', ']', '(', '"', '\'', ':', '\n', '-', '\xff', '$'}) {
            auto damaged = whole;
            damaged[at] = c;
            const auto manifest = read(damaged);
            CHECK((manifest || manifest.error().message.starts_with("env.yml")));
        }
    }
}

}  // namespace environment_yml_test
