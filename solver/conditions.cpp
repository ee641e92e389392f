#include "solver/conditions.hpp"

#include <algorithm>
#include <utility>

namespace gpkg::solver {

ConditionId Conditions::intern(Key key, ConditionNode node) {
    const auto [entry, added] =
        known_.try_emplace(std::move(key), static_cast<ConditionId>(nodes_.size()));
    if (added) nodes_.push_back(std::move(node));
    return entry->second;
}

ConditionId Conditions::intern_pair(ConditionNode::Kind kind, ConditionId a, ConditionId b) {
    const auto [left, right] = std::minmax(a, b);
    ConditionNode node;
    node.kind = kind;
    node.left = left;
    node.right = right;
    return intern({kind, left, right, ""}, std::move(node));
}

ConditionId Conditions::leaf(SpecId spec) {
    ConditionNode node;
    node.spec = spec;
    return intern({ConditionNode::Kind::Leaf, spec, 0, ""}, std::move(node));
}

ConditionId Conditions::extra(NameId name, std::string_view group) {
    ConditionNode node;
    node.kind = ConditionNode::Kind::Extra;
    node.name = name;
    node.group = group;
    return intern({ConditionNode::Kind::Extra, name, 0, std::string(group)}, std::move(node));
}

ConditionId Conditions::all_of(ConditionId a, ConditionId b) {
    if (a == kNever || b == kNever) return kNever;
    if (a == kAlways || a == b) return b;
    if (b == kAlways) return a;
    return intern_pair(ConditionNode::Kind::And, a, b);
}

ConditionId Conditions::any_of(ConditionId a, ConditionId b) {
    if (a == kAlways || b == kAlways) return kAlways;
    if (a == kNever || a == b) return b;
    if (b == kNever) return a;
    return intern_pair(ConditionNode::Kind::Or, a, b);
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
