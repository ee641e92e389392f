#include "solver/notes/notes.hpp"

#include "libcore/base/text.hpp"
#include "libcore/solve/explanation.hpp"
#include "libcore/spec/record_version.hpp"
#include "solver/notes/alternatives.hpp"
#include "solver/notes/package_notes.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace gpkg::solver {
namespace {

/// Installed packages stay although the machine would not have them, in one line.
std::string stay_text(const Universe& universe,
                      std::vector<std::string> items,
                      const std::string& although) {
    std::sort(items.begin(), items.end());
    return fmt::format("{} {} {}, although {}",
                       join_some(items, "and"),
                       items.size() == 1 ? "stays" : "stay",
                       as_before(universe.problem()),
                       although);
}

/// What the machine is assumed to have, if the specs fail only for assumed values; else empty.
std::vector<std::string> assumed_facts(const Universe& universe, const std::vector<SpecId>& unmet) {
    std::set<std::string> facts;
    for (const auto id : unmet) {
        const auto& name = universe.name_of(universe.specs()[id]);
        const auto* there =
            name.begin == name.end ? nullptr : universe.candidates()[name.begin].given;
        if (there == nullptr || !is_assumed(*there)) return {};
        facts.insert(machine_fact(universe.problem().machine, name.text, there));
    }
    return {facts.begin(), facts.end()};
}

/// Installed packages with dependencies that the machine does not meet.
std::optional<std::string> note_on_excused(const Universe& universe,
                                           const std::vector<CandidateId>& chosen) {
    std::vector<std::string> items;
    std::vector<SpecId> unmet;
    for (const auto id : chosen) {
        const auto excused = universe.candidates()[id].excused;
        if (excused.empty()) continue;
        items.push_back(fmt::format(
            "{} ({})", universe.name_of(id).text, universe.specs()[excused.front()].text));
        unmet.insert(unmet.end(), excused.begin(), excused.end());
    }
    if (items.empty()) return std::nullopt;
    const auto assumed = assumed_facts(universe, unmet);
    return stay_text(universe,
                     items,
                     !assumed.empty() ? join_some(assumed, "and")
                                      : fmt::format("{} does not meet {}",
                                                    universe.problem().machine,
                                                    items.size() == 1 ? "this requirement"
                                                                      : "these requirements"));
}

/// Installed packages that do not run on the machine's driver and GPUs.
std::optional<std::string> note_on_not_running(const Universe& universe,
                                               const std::vector<CandidateId>& chosen) {
    std::vector<std::string> items;
    for (const auto id : chosen) {
        const auto& candidate = universe.candidates()[id];
        if (candidate.is_installed && candidate.will_not_run &&
            universe.heeds_machine(candidate.name))
            items.push_back(universe.name_of(id).text);
    }
    if (items.empty()) return std::nullopt;
    const auto& problem = universe.problem();
    return stay_text(
        universe,
        items,
        fmt::format("{} not run on {}{}",
                    items.size() == 1 ? "it does" : "they do",
                    problem.machine,
                    problem.request.of_what.empty() ? " (to see why: gpkg doctor)" : ""));
}

/// Requested extras that the chosen candidate does not have: other builds or versions do.
void note_missing_extras(const Universe& universe,
                         const std::vector<CandidateId>& chosen,
                         std::vector<Note>& notes) {
    for (const auto id : universe.requested()) {
        const auto& spec = universe.specs()[id];
        for (const auto candidate : chosen) {
            if (universe.candidates()[candidate].name != spec.name) continue;
            const auto groups = universe.candidates()[candidate].groups();
            for (const auto& group : spec.match.extras) {
                if (std::find(groups.begin(), groups.end(), group) == groups.end())
                    notes.emplace_back(
                        fmt::format("{} has no extra '{}'", universe.describe(candidate), group));
            }
        }
    }
}

/// NAME[accel=...] of a package that has no GPU builds and needs none.
std::optional<std::string> note_on_unused_choice(const Universe& universe,
                                                 const std::vector<CandidateId>& chosen,
                                                 const std::string& name) {
    const auto& accelerators = universe.accelerators();
    const Alternatives alternatives(universe);
    const auto has_gpu_builds = [&](const std::string& text) {
        const auto id = universe.find_name(text);
        return id && alternatives.has_gpu_builds(*id);
    };
    const auto found = std::ranges::find_if(chosen, [&](CandidateId id) {
        return universe.names()[universe.candidates()[id].name].text == name;
    });
    if (!accelerators.is_bound(name) || found == chosen.end() || has_gpu_builds(name) ||
        universe.candidates()[*found].says_accelerator ||
        std::ranges::any_of(accelerators.of_dependency,
                            [&](const auto& passed) { return has_gpu_builds(passed.first); }))
        return std::nullopt;
    return fmt::format("{0}[accel={1}] has no effect: {0} has no GPU builds",
                       name,
                       to_string(accelerators.choice(name)));
}

}  // namespace

std::vector<Note> notes_on(const Universe& universe,
                           const Selected& selected,
                           const WithSpec& with_spec) {
    const auto& chosen = selected.packages;
    std::vector<Note> notes;
    append(notes, universe.notes());
    if (auto note = note_on_excused(universe, chosen)) notes.emplace_back(*std::move(note));
    if (auto note = note_on_not_running(universe, chosen)) notes.emplace_back(*std::move(note));
    note_missing_extras(universe, chosen, notes);
    std::ranges::move(package_notes(universe, selected, with_spec), std::back_inserter(notes));
    for (const auto& name : universe.problem().request.accelerators.asked_packages) {
        if (auto note = note_on_unused_choice(universe, chosen, name))
            notes.emplace_back(*std::move(note));
    }
    return notes;
}

}  // namespace gpkg::solver
