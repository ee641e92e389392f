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

ConditionId Conditions::all_of(ConditionId a, ConditionId b) {
    if (a == kNever || b == kNever) return kNever;
    if (a == kAlways || a == b) return b;
    if (b == kAlways) return a;
    return intern(
        {.kind = ConditionNode::Kind::And, .left = std::min(a, b), .right = std::max(a, b)});
}

ConditionId Conditions::any_of(ConditionId a, ConditionId b) {
    if (a == kAlways || b == kAlways) return kAlways;
    if (a == kNever || a == b) return b;
    if (b == kNever) return a;
    return intern(
        {.kind = ConditionNode::Kind::Or, .left = std::min(a, b), .right = std::max(a, b)});
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
