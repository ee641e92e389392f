#include "libcore/env/history.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("what is written to a history is read back", "[env]") {
    HistoryEntry entry;
    entry.time = "2026-08-21 10:00:00";
    entry.command = "gpkg install 'numpy>=2'";
    entry.tool_version = "0.1.0";
    entry.added = {"https://example.org/main/linux-64::numpy-2.1.0-py312_0"};
    entry.removed = {"https://example.org/main/linux-64::numpy-1.26.0-py312_0"};
    entry.update_specs = {"numpy>=2", "torch[version='>=2',build=\"cu*\"]", "a[x='b']"};
    entry.remove_specs = {"scipy"};
    entry.neutered_specs = {"python"};
    const auto text = to_text(entry);
    CHECK(text ==
          "==> 2026-08-21 10:00:00 <==\n"
          "# cmd: gpkg install 'numpy>=2'\n"
          "# gpkg version: 0.1.0\n"
          "-https://example.org/main/linux-64::numpy-1.26.0-py312_0\n"
          "+https://example.org/main/linux-64::numpy-2.1.0-py312_0\n"
          "# update specs: ['numpy>=2', 'torch[version=\\'>=2\\',build=\"cu*\"]', \"a[x='b']\"]\n"
          "# remove specs: ['scipy']\n"
          "# neutered specs: ['python']\n");
    const auto read = parse_history(text + text);
    REQUIRE(read.size() == 2);
    CHECK(read[0] == entry);
    CHECK(read[1] == entry);
}

TEST_CASE("histories of conda and of damaged files are read", "[env]") {
    CHECK(parse_history("").empty());
    CHECK(parse_history("garbage\n+before-any-block\n# cmd: x\n").empty());
    const auto read = parse_history(
        "==> 2019-01-01 00:00:00 <==\n"
        "# cmd: /opt/conda/bin/conda create -n x python=3.7\n"
        "# conda version: 4.8.3\n"
        "+defaults::python-3.7.6-h0371630_2\n"
        "# update specs: python=3.7,pip\n"
        "==> 2019-01-02 00:00:00 <==\n"
        "# remove specs: ['pip']\n");
    REQUIRE(read.size() == 2);
    CHECK(read[0].tool == "conda");
    CHECK(read[0].tool_version == "4.8.3");
    CHECK(read[0].update_specs == std::vector<std::string>{"python=3.7", "pip"});
    CHECK(requested_by_name(read) ==
          std::map<std::string, std::vector<std::string>>{{"python", {"python=3.7"}}});
}

TEST_CASE("requests are told in the order in which they were made", "[env]") {
    const auto read = parse_history(
        "==> 2026-01-01 00:00:00 <==\n"
        "# update specs: ['torch', 'numpy>=1', 'abc']\n"
        "==> 2026-01-02 00:00:00 <==\n"
        "# update specs: ['aaa', 'numpy>=2']\n"
        "==> 2026-01-03 00:00:00 <==\n"
        "# remove specs: ['torch']\n"
        "==> 2026-01-04 00:00:00 <==\n"
        "# update specs: ['torch=2']\n");
    CHECK(requested_specs(read) == std::vector<std::string>{"numpy>=2", "abc", "aaa", "torch=2"});
}

TEST_CASE("specs of one request on one package hold together", "[env]") {
    const auto read = parse_history(
        "==> 2026-01-01 00:00:00 <==\n"
        "# update specs: ['numpy>=1', 'torch', 'numpy<2', 'numpy>=1']\n"
        "==> 2026-01-02 00:00:00 <==\n"
        "# update specs: ['abc<3', 'abc>=2']\n");
    CHECK(requested_specs(read) ==
          std::vector<std::string>{"numpy>=1", "numpy<2", "torch", "abc<3", "abc>=2"});
    auto more = read;
    more.emplace_back().update_specs = {"numpy"};
    more.emplace_back().remove_specs = {"abc"};
    CHECK(requested_specs(more) == std::vector<std::string>{"numpy", "torch"});
}

TEST_CASE("packages of a history are those that conda reads", "[env]") {
    auto history = parse_history(
        "==> 2026-01-01 00:00:00 <==\n"
        "+conda-forge/linux-64::a-1.0-0\n"
        "+conda-forge/noarch::b-1.0-0\n"
        "==> 2026-01-02 00:00:00 <==\n"
        "-conda-forge/linux-64::a-1.0-0\n"
        "+conda-forge/linux-64::a-2.0-0\n");
    CHECK(packages_in(history) ==
          std::vector<std::string>{"conda-forge/linux-64::a-2.0-0", "conda-forge/noarch::b-1.0-0"});
    // Every tool writes channels in its own way; what goes is told as it came.
    HistoryEntry entry;
    set_difference(
        entry, history, {"https://c.example/noarch::b-1.0-0", "https://c.example/c-1-0"});
    CHECK(entry.removed == std::vector<std::string>{"conda-forge/linux-64::a-2.0-0"});
    CHECK(entry.added == std::vector<std::string>{"https://c.example/c-1-0"});
    // A block without packages is an environment without packages.
    history.emplace_back().update_specs = {"a"};
    CHECK(packages_in(history).empty());
    set_difference(entry, history, {"x/noarch::b-1.0-0"});
    CHECK(entry.removed.empty());
    CHECK(entry.added == std::vector<std::string>{"x/noarch::b-1.0-0"});
}

TEST_CASE("requests of a later command join the last block", "[env]") {
    const std::string first = "==> 2026-01-01 00:00:00 <==\n+c::x-1-0\n# update specs: ['x']\n";
    const std::string last =
        "==> 2026-01-02 00:00:00 <==\n# cmd: conda install a\n# conda version: 26.7.1\n"
        "+c::a-1-0\n# update specs: ['a=1', 'b', 'c']\n# neutered specs: ['d']\n";
    CHECK(last_block(first + last) == last);
    CHECK(last_block(first) == first);
    CHECK(last_block("\n// nothing\n").empty());
    CHECK(last_block("").empty());
    HistoryEntry later;
    later.update_specs = {"z", "a >=1", "d", "a <2"};
    later.remove_specs = {"c"};
    CHECK(with_requests(last, later) ==
          "==> 2026-01-02 00:00:00 <==\n# cmd: conda install a\n# conda version: 26.7.1\n"
          "+c::a-1-0\n# update specs: ['a >=1', 'a <2', 'b', 'z', 'd']\n# remove specs: ['c']\n");
}

TEST_CASE("the name in a spec", "[env]") {
    struct Row {
        std::string spec, name;
    };
    const auto row = GENERATE(values<Row>({
        {"numpy", "numpy"},
        {"NumPy >=2", "numpy"},
        {"conda-forge::numpy=2", "numpy"},
        {"https://h/c/linux-64::numpy[version='>=2']", "numpy"},
        {"x[channel=\"a::b\"]", "x"},
        {"python~=3.12", "python"},
    }));
    CHECK(spec_name(row.spec) == row.name);
}
