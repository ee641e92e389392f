#include "libcore/cluster/slurm_nodes.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace gpkg;

namespace slurm_nodes_test {
namespace {

std::string gpus_of(const std::string& gres) {
    const auto nodes = parse_nodes(fmt::format("n|p|idle|(null)|{}|1:4:1|up\n", gres));
    if (!nodes) return nodes.error().message;
    std::string text;
    for (const auto& [type, count] : nodes->front().gpus)
        text += fmt::format("{}={} ", type, count);
    return text;
}

NodeReadiness readiness(const std::string& state) {
    return parse_nodes(fmt::format("n|p|{}|f|(null)|1:1:1|up\n", state))->front().readiness;
}

}  // namespace

TEST_CASE("GPUs of a node, as Slurm writes them", "[slurm]") {
    CHECK(gpus_of("(null)").empty());
    CHECK(gpus_of("gpu:4") == "=4 ");
    CHECK(gpus_of("gpu:a100:4") == "a100=4 ");
    CHECK(gpus_of("gpu:a100:4(S:0-1)") == "a100=4 ");
    CHECK(gpus_of("gpu:a100:2(S:0),gpu:a100:2(S:1)") == "a100=4 ");
    CHECK(gpus_of("gpu:4(S:0,2),license:2") == "=4 ");
    CHECK(gpus_of("shard:8,gpu:t4:1,nvme:1T,gpu:nvidia_h100_80gb_hbm3:8(S:0-7)") ==
          "nvidia_h100_80gb_hbm3=8 t4=1 ");
    CHECK(gpus_of("gpu:1g.5gb:7") == "1g.5gb=7 ");
    CHECK(gpus_of("gpu:a100") == "a100=1 ");
    CHECK(gpus_of("gpu:a100:0").empty());
    CHECK(gpus_of("craynetwork:4,mps:200").empty());
}

TEST_CASE("GPUs of a kind, for people", "[slurm]") {
    const auto text = [](const std::string& gres) {
        return gpus_text(
            node_kinds(parse_nodes(fmt::format("n|p|idle|x|{}|1:1:1|up\n", gres)).value()).front());
    };
    CHECK(text("(null)").empty());
    CHECK(text("gpu:4") == "4 x a GPU");
    CHECK(text("gpu:t4:1,gpu:a100:2(S:0)") == "2 x a100, 1 x t4");
}

TEST_CASE("states of nodes", "[slurm]") {
    // The states and marks of sinfo(1), "NODE STATE CODES".
    CHECK(readiness("idle") == NodeReadiness::Idle);
    CHECK(readiness("idle-") == NodeReadiness::Idle);
    CHECK(readiness("mix") == NodeReadiness::Shared);
    CHECK(readiness("alloc") == NodeReadiness::Busy);
    CHECK(readiness("alloc+") == NodeReadiness::Busy);
    CHECK(readiness("comp") == NodeReadiness::Busy);
    CHECK(readiness("idle~") == NodeReadiness::Asleep);
    CHECK(readiness("mix#") == NodeReadiness::Asleep);
    for (const auto* state :
         {"idle*", "down", "down*", "drain", "drng", "maint", "idle$", "idle@", "boot", "unk"}) {
        INFO(state);
        CHECK(readiness(state) == NodeReadiness::Unusable);
    }
}

TEST_CASE("nodes that are alike are of one kind, whatever Slurm's order", "[slurm]") {
    const auto nodes = parse_nodes(
        "n1|a|alloc|x,y|(null)|2:8:1|up\n"
        "n1|b|alloc|x,y|(null)|2:8:1|up\n"
        "n2|b|idle|y,x|(null)|2:8:1|up\n"
        "n2|a|idle|y,x|(null)|2:8:1|up\n"
        "n3|b|idle|x,y|(null)|2:8:1|up\n"
        "\n"
        "n4|a|down*|x,y|gpu:a100:1|2:8:1|up\n");
    REQUIRE(nodes);
    CHECK(nodes->size() == 4);
    const auto kinds = node_kinds(*nodes);
    REQUIRE(kinds.size() == 2);
    CHECK(kinds[0].first().name == "n2");  // soonest to be had
    CHECK(kinds[0].nodes.size() == 3);
    CHECK(kinds[0].first().partitions == std::vector<std::string>{"a", "b"});
    CHECK(kinds[0].partitions() == std::vector<std::string>{"a", "b"});
    CHECK(kinds[1].first().name == "n4");
    CHECK(kinds[1].is_in("a"));
    CHECK_FALSE(kinds[1].is_in("b"));
    // Of partitions the first that is up is the way to a node; a node without one comes last.
    const auto closed = node_kinds(parse_nodes("n1|shut|idle|x|(null)|1:1:1|down\nn2|p|mix|x|(null)"
                                               "|1:1:1|up\nn2|a|mix|x|(null)|1:1:1|inact\n")
                                       .value());
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].first().name == "n2");
    CHECK(closed[0].first().open == std::vector<std::string>{"p"});
    for (const auto* text : {"sinfo: error\n", "n1|a|idle|x|(null)\n", "a|b|c|d|e|f|g|h\n"})
        CHECK_FALSE(parse_nodes(text));
    CHECK(parse_nodes("")->empty());
}

TEST_CASE("kinds of one partition are told apart", "[slurm]") {
    const auto labels = [](const std::string& text) {
        const auto kinds = node_kinds(parse_nodes(text).value());
        std::vector<std::string> found;
        for (const auto& kind : kinds) found.push_back(label_of(kind, kinds));
        std::sort(found.begin(), found.end());
        return fmt::format("{}", fmt::join(found, " "));
    };
    CHECK(labels("n1|p|idle|x|gpu:a100:1|1:1:1|up\n").empty());
    CHECK(labels("n1|p|idle|x|gpu:a100:1|1:1:1|up\nn2|p|idle|x|gpu:h100:1|1:1:1|up\n") ==
          "a100 h100");
    // The same GPU in machines that differ: by the feature that one has alone.
    CHECK(labels("n1|p|idle|big,x|gpu:a100:1|1:1:1|up\nn2|p|idle|x|gpu:a100:1|1:1:1|up\n") ==
          "big n2");
    CHECK(labels("n1|p|idle|a,b|(null)|1:1:1|up\nn2|p|idle|b,c|(null)|1:1:1|up\nn3|p|idle|a,c|("
                 "null)|1:1:1|up\n") == "a+b a+c b+c");
    CHECK(labels("n1|p|idle|x|(null)|1:1:1|up\nn2|p|idle|x|(null)|2:1:1|up\n") == "n1 n2");
    CHECK(labels("n1|p|idle|a/b|(null)|1:1:1|up\nn2|p|idle|c|(null)|1:1:1|up\n") == "a_b c");
}

}  // namespace slurm_nodes_test
