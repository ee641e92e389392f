// Which builds of a name are candidates at all: for the accelerators that the request allows, and,
// of what is installed, those that keep what is kept of it.

#include "solver/universe.hpp"

#include <algorithm>

namespace gpkg::solver {

std::optional<Accelerator> Universe::accelerator_of_row(const Candidate& candidate,
                                                        const List& depends) const {
    if (is_vendor_part(names_[candidate.name].text)) return std::nullopt;
    if (candidate.offered.row->flags != 0) {
        for (const auto& flag : candidate.flags()) {
            if (const auto found = accelerator_of_flag(flag)) return found;
        }
    }
    const auto& said = depends.accelerator;
    if (said.is_for_either) return std::nullopt;
    if (said.hint != AcceleratorHint::Nothing) return said.accelerator;
    return accelerator_of_build(candidate.build());
}

bool Universe::is_requested(NameId name) const {
    return std::any_of(
        requested_.begin(), requested_.end(), [&](SpecId id) { return specs_[id].name == name; });
}

bool Universe::is_as_requested(CandidateId id) const {
    const auto allows = [&](SpecId of) {
        return specs_[of].name != candidates_[id].name || specs_[of].allows(id);
    };
    return std::all_of(requested_.begin(), requested_.end(), allows) &&
           std::all_of(constraints_.begin(), constraints_.end(), allows);
}

std::optional<Accelerator> Universe::preferred_accelerator(NameId name) const {
    switch (accelerators().choice(names_[name].text)) {
    case AcceleratorChoice::Auto: return found_accelerator_;
    case AcceleratorChoice::Nvidia: return Accelerator::Nvidia;
    case AcceleratorChoice::Amd: return Accelerator::Amd;
    case AcceleratorChoice::None: return Accelerator::None;
    case AcceleratorChoice::Conda: break;
    }
    return std::nullopt;
}

template <typename WhyNot>
void Universe::leave_out(NameId name, const WhyNot& why_not) {
    auto& left_out = names_[name].left_out;
    const auto begin = candidates_.begin() + names_[name].begin;
    const auto kept = std::stable_partition(
        begin, candidates_.end(), [&](const auto& candidate) { return !why_not(candidate); });
    for (auto gone = kept; gone != candidates_.end(); ++gone) {
        if (gone->is_offered()) left_out.push_back({*why_not(*gone), gone->offered});
    }
    candidates_.erase(kept, candidates_.end());
}

void Universe::leave_out_changed_builds(NameId name) {
    const auto kept = keeping_.kept_of(names_[name].text);
    if (kept) leave_out(name, [&](const Candidate& candidate) { return kept->why_not(candidate); });
}

/// Where a name has builds for the accelerator that is asked for, the others are none; versions
/// that know of no accelerator are, but not of what the user names. What is installed stays until
/// somebody asks for a change.
void Universe::leave_out_accelerators(NameId name) {
    if (!accelerators().is_bound(names_[name].text)) return;
    const auto wanted = *preferred_accelerator(name);
    const auto begin = candidates_.begin() + names_[name].begin;
    const bool is_named = is_requested(name);
    bool has_any = false;
    std::vector<VersionId> with_wanted;
    for (auto candidate = begin; candidate != candidates_.end(); ++candidate) {
        has_any = has_any || candidate->accelerator != Accelerator::None ||
                  (is_named && candidate->says_accelerator && wanted != Accelerator::None);
        if (candidate->accelerator == wanted) with_wanted.push_back(candidate->version);
    }
    if (!has_any || (with_wanted.empty() && !is_named && wanted != Accelerator::None)) return;
    const bool may_change = accelerators().is_asked(names_[name].text);
    leave_out(name, [&](const Candidate& candidate) -> std::optional<LeftOut::Why> {
        const bool is_neutral =
            !candidate.says_accelerator && !is_named &&
            std::find(with_wanted.begin(), with_wanted.end(), candidate.version) ==
                with_wanted.end();
        if (candidate.accelerator == wanted || is_neutral ||
            (candidate.is_installed && !may_change))
            return std::nullopt;
        return LeftOut::Why::Accelerator;
    });
}

}  // namespace gpkg::solver
