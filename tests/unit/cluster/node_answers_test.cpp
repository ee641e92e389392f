#include "libcore/cluster/deployment.hpp"
#include "libcore/cluster/node_step.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("lines of nodes are found between whatever else srun prints") {
    const auto answers = parse_answers(
        "welcome to n1\ngpkg-node\tn2\twhole\ngpkg-node\tn1\trefused\t/tmp\tdoes not "
        "exist\ngpkg-node\tn2\tat\t/a "
        "b\text4\ngpkg-node\ngpkg-node\tn9\tready\t\ngpkg-node\tn1\tat\t/x",
        {"n1", "n2", "n3"});
    REQUIRE(answers.size() == 4);
    CHECK(answers[0].node == "n1");
    REQUIRE(answers[0].lines.size() == 2);
    CHECK(answers[0].lines[0].values == std::vector<std::string>{"/tmp", "does not exist"});
    CHECK(answers[0].find("at")->value() == "/x");
    CHECK(answers[1].find("whole")->value().empty());
    CHECK(answers[1].find("at")->values == std::vector<std::string>{"/a b", "ext4"});
    CHECK(answers[2].lines.empty());
    CHECK(answers[2].find("at") == nullptr);
    CHECK(answers[3].node == "n9");
}

TEST_CASE("nodes with the same fault are told together") {
    std::vector<NodeFailure> failures{{"n7", "no space"}};
    for (int node = 1; node <= 6; ++node)
        failures.push_back({"n" + std::to_string(node), "is gone"});
    const auto error = error_of(failures, "do that");
    CHECK(error.message == "n7: no space\nn1, n2, n3 and 3 others: is gone");
    CHECK(error.hint == "do that");
    CHECK(error.details.find(R"({"node":"n6","error":"is gone"})") != std::string::npos);
}

TEST_CASE("what a node says cannot command the terminal") {
    const auto answers = parse_answers("gpkg-node\tn1\terror\tred \x1b[31m\n", {"n1"});
    const auto error = error_of(failures_of(answers), {});
    CHECK(error.message == "n1: red \\x1b[31m");
}

TEST_CASE("an epilog names its folders as words of a shell") {
    const auto script = epilog_script({"/tmp", "/local disk/it's"});
    CHECK(script.find("for folder in /tmp '/local disk/it'\\''s'; do\n") != std::string::npos);
    CHECK(script.find("@FOLDERS@") == std::string::npos);
    CHECK(script.starts_with("#!/bin/sh\n"));
}
