#include "solver/universe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::solver {

Universe::Universe(const Problem& problem)
    : problem_(&problem),
      accelerators_(problem.request.accelerators),
      table_(problem.virtual_packages),
      keeping_(problem.request) {}

void Universe::require(Together together) {
    if (std::exchange(together_, together) == together) return;
    for (auto& lists : derived_) {
        std::swap(candidates_[lists.candidate].depends, lists.depends);
        std::swap(candidates_[lists.candidate].constrains, lists.constrains);
    }
    toolkits_.clear();
    for (NameId id = 0; id < names().size() && together == Together::Required; ++id) {
        if (names()[id].toolkit_of) toolkits_.push_back(id);
    }
}

std::uint32_t Universe::constraint_index(std::size_t place) const {
    return static_cast<std::uint32_t>(constraint_of_[place] - problem_->request.constraints.data());
}

std::vector<SpecId> Universe::leaves(ConditionId condition) const {
    std::vector<SpecId> specs;
    for (const auto part : conditions().parts_of(condition)) {
        if (conditions()[part].kind == ConditionNode::Kind::Leaf)
            specs.push_back(conditions()[part].spec);
    }
    return specs;
}

bool Universe::names_cuda() const {
    const auto& request = problem_->request;
    return request.accelerators.all == AcceleratorChoice::Auto &&
           gpkg::names_cuda(request.specs, problem_->virtual_packages);
}

bool Universe::is_requested(NameId name) const {
    const auto is_on_name = [&](SpecId id) { return specs()[id].name == name; };
    return std::any_of(requested_.begin(), requested_.end(), is_on_name) ||
           std::any_of(conditional_.begin(), conditional_.end(), is_on_name);
}

bool Universe::is_as_requested(CandidateId id) const {
    const auto allows = [&](SpecId of) {
        return specs()[of].name != candidates_[id].name || specs()[of].allows(id);
    };
    return std::all_of(requested_.begin(), requested_.end(), allows) &&
           std::all_of(constraints_.begin(), constraints_.end(), allows);
}

std::optional<Accelerator> Universe::preferred_accelerator(NameId name) const {
    const auto choice = accelerators().choice(names()[name].text);
    if (choice == AcceleratorChoice::Auto) return found_accelerator_;
    if (choice == AcceleratorChoice::None) return Accelerator::None;
    return vendor_of(choice);
}

std::string Universe::describe(CandidateId id) const {
    return fmt::format(
        "{} {} {}", name_of(id).text, version_of(id).to_string(), candidates_[id].build());
}

}  // namespace gpkg::solver
