#include "solver/machine_limit.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/solve/explanation.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/running.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {

bool is_for_machine(const Universe& universe, const LeftOut& out) {
    const auto record = out.record.record();
    if (!record) return false;
    const auto& problem = universe.problem();
    const auto vendor = accelerator_of(*record).accelerator;
    const auto bounds = problem.request.only_compiles ? DriverBounds::Ignore : DriverBounds::Count;
    return unmet_needs(*record, problem.virtual_packages, bounds).empty() &&
           (vendor == Accelerator::None || has_vendor(problem.virtual_packages, vendor));
}

/// Cycles count as possible: then there is no note.
MachineLimit::Verdict MachineLimit::verdict_on(CandidateId id) {
    if (const auto [known, is_new] = known_.try_emplace(id); !is_new) return known->second;
    const auto& candidate = universe_.candidates()[id];
    // The machine is not the reason if something else rules it out as well.
    Verdict verdict;
    for (const auto depend : candidate.depends) {
        auto own = verdict_on_spec(depend);
        if (own.unmet == depend) own.asker = id;
        if (own.why > verdict.why) verdict = own;
        if (own.why == Why::Else) break;
    }
    for (const auto restricted : candidate.constrains) {
        if (verdict.why != Why::Nothing) break;
        const auto& spec = universe_.specs()[restricted];
        const auto& name = universe_.name_of(spec);
        if (name.is_virtual && name.begin != name.end) verdict = verdict_on_spec(restricted);
    }
    known_[id] = verdict;
    return verdict;
}

MachineLimit::Verdict MachineLimit::verdict_on_spec(SpecId id) {
    const auto& spec = universe_.specs()[id];
    if (universe_.name_of(spec).is_virtual)
        return spec.matches.empty() ? Verdict{Why::Machine, id} : Verdict{};
    // The request excludes the release of the toolkit, or the builds of the framework.
    if (spec.is_derived && spec.matches.empty()) return {Why::Request, kNone};
    Verdict verdict{Why::Else, spec.matches.empty() ? id : kNone};
    // The newest are last, and the message is about them.
    for (const auto match : spec.matches) {
        const auto of_match =
            universe_.is_as_requested(match) ? verdict_on(match) : Verdict{Why::Request, kNone};
        if (of_match.why == Why::Nothing) return {};
        if (of_match.why == Why::Machine && verdict.why == Why::Machine) {
            verdict = easier(of_match, verdict);
        } else if (of_match.why < verdict.why ||
                   (of_match.why == Why::Else && of_match.unmet != kNone &&
                    verdict.why == Why::Else)) {
            verdict = of_match;
        }
    }
    return verdict;
}

/// Of two unmet specs the one that a lower version of the virtual package meets; of different
/// virtual packages rather not the platform's; else `a`.
MachineLimit::Verdict MachineLimit::easier(const Verdict& a, const Verdict& b) const {
    const auto least = [&](const Verdict& verdict) -> std::optional<Version> {
        const auto& version = universe_.specs()[verdict.unmet].match.version;
        if (!version) return std::nullopt;
        const auto literals = version->own_literals();
        const auto found = std::min_element(literals.begin(), literals.end());
        return found == literals.end() ? std::nullopt : std::optional(*found);
    };
    const auto is_platform = [&](const Verdict& verdict) {
        return is_system_package(universe_.name_of(universe_.specs()[verdict.unmet]).text);
    };
    if (universe_.specs()[a.unmet].name != universe_.specs()[b.unmet].name)
        return is_platform(a) && !is_platform(b) ? b : a;
    const auto of_a = least(a);
    const auto of_b = least(b);
    return of_a && of_b && *of_b < *of_a ? b : a;
}

bool MachineLimit::could_run(CandidateId id) {
    return !universe_.candidates()[id].will_not_run && verdict_on(id).why != Why::Machine;
}

std::string MachineLimit::why_none_runs(const std::vector<CandidateId>& ids) {
    std::optional<Verdict> easiest;
    for (const auto id : ids) {
        const auto own = verdict_on(id);
        if (own.why == Why::Machine) easiest = easiest ? easier(*easiest, own) : own;
    }
    const bool is_possible = std::ranges::any_of(
        ids, [&](CandidateId id) { return verdict_on(id).why == Why::Nothing; });
    if (easiest && !is_possible) return text_of(*easiest);
    return obstacle_of(universe_, *std::ranges::find_if(ids, [&](CandidateId id) {
                           return universe_.candidates()[id].will_not_run;
                       }));
}

std::optional<std::string> MachineLimit::why_missing(const std::vector<CandidateId>& ids) {
    const bool are_all_out = std::ranges::all_of(ids, [&](CandidateId id) {
        const auto verdict = verdict_on(id);
        return verdict.why == Why::Else && verdict.unmet != kNone;
    });
    if (ids.empty() || !are_all_out) return std::nullopt;
    const auto verdict = verdict_on(ids.back());
    const auto& spec = universe_.specs()[verdict.unmet];
    const auto through = verdict.asker == ids.back() || verdict.asker == kNone
                             ? std::string()
                             : fmt::format(" (through {})", universe_.name_of(verdict.asker).text);
    const auto& left_out = universe_.name_of(spec).left_out;
    const auto out = std::ranges::find_if(
        left_out, [&](const LeftOut& one) { return one.record.matches(spec.match); });
    return fmt::format("needs {}{}, which {}",
                       written(spec.match),
                       through,
                       out == left_out.end() ? "no channel has"
                                             : "is " + left_out_text(universe_, spec.name, *out));
}

std::string MachineLimit::text_of(const Verdict& verdict) const {
    const auto& spec = universe_.specs()[verdict.unmet];
    const auto& name = universe_.name_of(spec);
    const PackageRecord* there =
        name.begin == name.end ? nullptr : universe_.candidates()[name.begin].given;
    const auto& problem = universe_.problem();
    auto text = fmt::format(
        "needs {}, but {}", written(spec.match), machine_fact(problem.machine, name.text, there));
    if (there != nullptr && is_assumed(*there) && problem.how_to_give)
        text += "; to give another value: " + problem.how_to_give(spec.match, *there);
    return text;
}

std::vector<CandidateId> MachineLimit::newest_ruled_out(CandidateId id) {
    const auto& chosen = universe_.candidates()[id];
    const auto& name = universe_.names()[chosen.name];
    const bool runs = !chosen.will_not_run && universe_.heeds_machine(chosen.name);
    std::vector<CandidateId> newest;
    for (auto other = name.begin; other < name.end; ++other) {
        if (!(universe_.version_of(id) < universe_.version_of(other)) ||
            !universe_.is_as_requested(other))
            continue;
        const bool does_not_run = runs && universe_.candidates()[other].will_not_run;
        const auto why = verdict_on(other).why;
        if ((why == Why::Nothing && !does_not_run) || why == Why::Request) return {};
        if (why == Why::Else) continue;
        if (!newest.empty() && universe_.version_of(newest.front()) < universe_.version_of(other))
            newest.clear();
        if (newest.empty() || universe_.version_of(newest.front()) == universe_.version_of(other))
            newest.push_back(other);
    }
    return newest;
}

}  // namespace gpkg::solver
