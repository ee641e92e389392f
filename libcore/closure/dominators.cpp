#include "libcore/closure/dominators.hpp"

#include <algorithm>

namespace gpkg {
namespace {

/// What can be reached from the root, each node before what only it leads to (cycles aside).
std::vector<std::size_t> reverse_postorder(const Edges& edges, std::size_t root) {
    struct Visit {
        std::size_t node;
        std::size_t next = 0;  ///< of its edges
    };
    std::vector<bool> seen(edges.size());
    std::vector<std::size_t> order;
    std::vector<Visit> open{{root}};
    seen[root] = true;
    while (!open.empty()) {
        auto& [node, next] = open.back();
        if (next == edges[node].size()) {
            order.push_back(node);
            open.pop_back();
            continue;
        }
        const auto to = edges[node][next++];
        if (!seen[to]) open.push_back({to});
        seen[to] = true;
    }
    std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace

bool Dominators::dominates(std::size_t by, std::size_t node) const {
    while (node != by && node != kNoNode) node = nearest[node];
    return node == by;
}

Dominators dominators(const Edges& edges, std::size_t root) {
    Dominators found{std::vector<std::size_t>(edges.size(), kNoNode),
                     reverse_postorder(edges, root)};
    auto& nearest = found.nearest;
    const auto& order = found.order;
    std::vector<std::size_t> rank(edges.size(), kNoNode);
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    Edges incoming(edges.size());
    for (const auto from : order) {
        for (const auto to : edges[from]) incoming[to].push_back(from);
    }
    // The common dominator nearest to both: whichever stands later in the order climbs.
    const auto meet = [&](std::size_t a, std::size_t b) {
        while (a != b) {
            auto& later = rank[a] > rank[b] ? a : b;
            later = nearest[later];
        }
        return a;
    };
    nearest[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto node : order) {
            if (node == root) continue;
            std::size_t common = kNoNode;
            for (const auto from : incoming[node]) {
                if (nearest[from] == kNoNode) continue;  // not known yet
                common = common == kNoNode ? from : meet(common, from);
            }
            changed = changed || nearest[node] != common;
            nearest[node] = common;
        }
    }
    nearest[root] = kNoNode;
    return found;
}

}  // namespace gpkg
