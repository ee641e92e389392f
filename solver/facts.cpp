#include "solver/facts.hpp"

namespace gpkg::solver {

Facts::Facts(const Universe& universe)
    : universe_(universe),
      by_name_(universe.names().size(), kNone),
      is_asked_(universe.conditions().size()) {
    for (const auto spec : universe.requested()) ask_extras(spec);
}

void Facts::ask_extras(SpecId spec) {
    for (const auto extra : universe_.specs()[spec].extras) is_asked_[extra] = true;
}

void Facts::settle(CandidateId id) {
    const auto& candidate = universe_.candidates()[id];
    settled_.push_back(id);
    applied_.emplace_back(candidate.conditional.size());
    by_name_[candidate.name] = id;
    for (const auto spec : candidate.depends) ask_extras(spec);
}

bool Facts::holds(ConditionId condition) const {
    if (condition == kAlways || condition == kNever) return condition == kAlways;
    const auto& node = universe_.conditions()[condition];
    switch (node.kind) {
    case ConditionNode::Kind::Leaf: {
        const auto& spec = universe_.specs()[node.spec];
        return by_name_[spec.name] != kNone && spec.allows(by_name_[spec.name]);
    }
    case ConditionNode::Kind::Extra: return is_asked_[condition];
    case ConditionNode::Kind::And: return holds(node.left) && holds(node.right);
    case ConditionNode::Kind::Or: return holds(node.left) || holds(node.right);
    }
    return false;
}

std::vector<SpecId> Facts::newly_applying() {
    std::vector<SpecId> found;
    for (std::size_t place = 0; place < settled_.size(); ++place) {
        const auto& list = universe_.candidates()[settled_[place]].conditional;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (applied_[place][i] || !holds(universe_.specs()[list[i]].when)) continue;
            applied_[place][i] = true;
            ask_extras(list[i]);
            found.push_back(list[i]);
        }
    }
    return found;
}

}  // namespace gpkg::solver
