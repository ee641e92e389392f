#include "solver/machine_limit.hpp"

#include "libcore/solve/explanation.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/explain/offers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {

/// Cycles count as possible: that errs towards saying nothing.
MachineLimit::Verdict MachineLimit::verdict_on(CandidateId id) {
    if (const auto [known, is_new] = known_.try_emplace(id); !is_new) return known->second;
    const auto& candidate = universe_.candidates()[id];
    Verdict verdict;
    for (const auto depend : candidate.depends) {
        verdict = verdict_on_spec(depend);
        if (verdict.why != Why::Nothing) break;
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
    Verdict verdict{Why::Else, kNone};
    // The newest are last, and what is said is about them.
    for (const auto match : spec.matches) {
        const auto of_match = verdict_on(match);
        if (of_match.why == Why::Nothing) return {};
        if (of_match.why == Why::Machine) verdict = of_match;
    }
    return verdict;
}

std::optional<std::string> MachineLimit::why_never(CandidateId id) {
    const auto verdict = verdict_on(id);
    if (verdict.why != Why::Machine) return std::nullopt;
    const auto& spec = universe_.specs()[verdict.unmet];
    ExplanationLine fact;
    fact.kind = ExplanationLine::Kind::Machine;
    fact.name = universe_.name_of(spec).text;
    tell_offer(universe_, spec.name, {verdict.unmet}, fact);
    return fmt::format("needs {}, and {}", written(spec.match), fact.text());
}

std::optional<std::string> MachineLimit::note_on(CandidateId id) {
    const auto& chosen = universe_.candidates()[id];
    const auto& name = universe_.names()[chosen.name];
    const auto& version = universe_.version(chosen.version);
    if (chosen.is_installed || !universe_.is_requested(chosen.name)) return std::nullopt;
    const auto version_of = [&](CandidateId other) -> const Version& {
        return universe_.version(universe_.candidates()[other].version);
    };
    std::optional<CandidateId> newest;
    for (auto other = name.begin; other < name.end; ++other) {
        if (!(version < version_of(other)) || !universe_.is_as_requested(other)) continue;
        const auto why = verdict_on(other).why;
        if (why == Why::Nothing) return std::nullopt;
        if (why == Why::Machine && (!newest || version_of(*newest) < version_of(other)))
            newest = other;
    }
    if (!newest) return std::nullopt;
    return fmt::format("{} {} is the newest that can be had here: {} {}",
                       name.text,
                       version.to_string(),
                       version_of(*newest).to_string(),
                       *why_never(*newest));
}

}  // namespace gpkg::solver
