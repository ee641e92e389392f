#include "libcore/closure/dominators.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <random>

using namespace gpkg;

namespace dominators_test {
namespace {

/// What can be reached from `root` without entering `avoided`.
std::vector<bool> reached(const Edges& edges, std::size_t root, std::size_t avoided) {
    std::vector<bool> seen(edges.size());
    std::vector<std::size_t> queue;
    if (root != avoided) queue.push_back(root);
    while (!queue.empty()) {
        const auto node = queue.back();
        queue.pop_back();
        if (seen[node]) continue;
        seen[node] = true;
        for (const auto to : edges[node]) {
            if (to != avoided) queue.push_back(to);
        }
    }
    return seen;
}

}  // namespace

TEST_CASE("dominators of a graph with a cycle", "[closure]") {
    // 0 -> 1 -> 2 <-> 3, 0 -> 4 -> 3; 5 is not reached.
    const auto found = dominators({{1, 4}, {2}, {3}, {2}, {3}, {0}}, 0);
    CHECK(found.nearest == std::vector<std::size_t>{kNoNode, 0, 0, 0, 0, kNoNode});
    CHECK(found.order.size() == 5);
    CHECK(found.dominates(0, 3));
    CHECK(found.dominates(3, 3));
    CHECK_FALSE(found.dominates(1, 2));
}

TEST_CASE("a node dominates what cannot be reached without it", "[closure]") {
    std::mt19937 random(20240501);
    for (int round = 0; round < 400; ++round) {
        const std::size_t size = 1 + random() % 12;
        Edges edges(size);
        const auto count = random() % (3 * size);
        for (std::size_t i = 0; i < count; ++i) edges[random() % size].push_back(random() % size);
        const auto root = random() % size;
        const auto found = dominators(edges, root);
        const auto all = reached(edges, root, kNoNode);
        CHECK(found.order.size() ==
              static_cast<std::size_t>(std::count(all.begin(), all.end(), true)));
        for (std::size_t by = 0; by < size; ++by) {
            if (!all[by]) continue;
            const auto without = reached(edges, root, by);
            for (std::size_t node = 0; node < size; ++node) {
                if (all[node]) CHECK(found.dominates(by, node) == !without[node]);
            }
        }
    }
}

}  // namespace dominators_test
