#pragma once

// Dominators of a directed graph: a node dominates another if every way from the root to the other
// leads through it. Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm" (2001).

#include <cstddef>
#include <vector>

namespace gpkg {

/// For each node the nodes that its edges lead to.
using Edges = std::vector<std::vector<std::size_t>>;

inline constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

struct Dominators {
    /// The nearest dominator of each node, itself aside; kNoNode for the root and for what cannot
    /// be reached from it.
    std::vector<std::size_t> nearest;
    /// What can be reached, each after its dominators, the root first.
    std::vector<std::size_t> order;

    /// Whether every way to `node` leads through `by`; of a node and itself true.
    bool dominates(std::size_t by, std::size_t node) const;
};

Dominators dominators(const Edges& edges, std::size_t root);

}  // namespace gpkg
