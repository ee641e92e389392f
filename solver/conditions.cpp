#include "solver/conditions.hpp"

#include <algorithm>

namespace gpkg::solver {

ConditionId Conditions::intern(const ConditionNode& node) {
    const auto [entry, added] = known_.try_emplace(node, static_cast<ConditionId>(nodes_.size()));
    if (added) nodes_.push_back(node);
    return entry->second;
}

ConditionId Conditions::leaf(SpecId spec) {
    return intern({.kind = ConditionNode::Kind::Leaf, .spec = spec});
}

ConditionId Conditions::extra(NameId name, std::string_view group) {
    return intern({.kind = ConditionNode::Kind::Extra, .name = name, .group = std::string(group)});
}

ConditionId Conditions::join(ConditionNode::Kind kind, ConditionId a, ConditionId b) {
    const bool is_and = kind == ConditionNode::Kind::And;
    const auto decides = is_and ? kNever : kAlways;
    const auto adds_nothing = is_and ? kAlways : kNever;
    if (a == decides || b == decides) return decides;
    if (a == adds_nothing || a == b) return b;
    if (b == adds_nothing) return a;
    return intern({.kind = kind, .left = std::min(a, b), .right = std::max(a, b)});
}

std::vector<ConditionId> Conditions::parts_of(ConditionId id) const {
    std::vector<ConditionId> parts;
    if (id < nodes_.size()) parts.push_back(id);
    for (std::size_t next = 0; next < parts.size(); ++next) {
        const auto& node = nodes_[parts[next]];
        if (node.kind == ConditionNode::Kind::Leaf || node.kind == ConditionNode::Kind::Extra)
            continue;
        parts.push_back(node.left);
        parts.push_back(node.right);
    }
    return parts;
}

}  // namespace gpkg::solver
