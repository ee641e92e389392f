#include "libcore/cluster/probe.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("a profile is found among what else a login prints", "[probe]") {
    CHECK(profile_in("---\na: 1\nb: 2\n...\n") == "a: 1\nb: 2\n");
    CHECK(profile_in("Welcome to node7\n---\na: 1\n...\nlogout\n") == "a: 1\n");
    for (const auto* text : {"", "Welcome\n", "---\na: 1\n", "a: 1\n...\n", "x---\na: 1\n...\n"}) {
        INFO(text);
        const auto found = profile_in(text);
        REQUIRE_FALSE(found);
        CHECK(found.error().message.find("no hardware profile in the output") != std::string::npos);
    }
}

TEST_CASE("a probe asks for one GPU of each type of its kind", "[probe]") {
    const auto nodes = parse_nodes(
        "g1|gpu|mix|a|gpu:a100:4(S:0,2),gpu:t4:1|2:64:2|up\n"
        "g2|gpu|idle|a|gpu:a100:4(S:0,2),gpu:t4:1|2:64:2|up\n");
    REQUIRE(nodes);
    const auto kinds = node_kinds(*nodes);
    REQUIRE(kinds.size() == 1);
    ProbeOptions options;
    options.wait = std::chrono::seconds(9);
    options.words = {"--account=a"};
    const auto command = probe_command(kinds.front(), options);
    const auto has = [&](const std::string& word) {
        return std::find(command.begin(), command.end(), word) != command.end();
    };
    CHECK(has("--nodelist=g2"));  // the one that is idle
    CHECK(has("--gres=gpu:a100:1,gpu:t4:1"));
    CHECK(has("--immediate=9"));
    CHECK(command.back() == "--account=a");
}
