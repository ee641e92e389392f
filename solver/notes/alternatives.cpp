#include "solver/notes/alternatives.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <span>
#include <utility>

namespace gpkg::solver {

bool Alternatives::is_named_now(NameId name) const {
    const auto& request = universe_.problem().request;
    const auto named = std::span(request.specs).first(request.named);
    return std::ranges::any_of(named, [&](const MatchSpec& spec) {
        return spec.name == universe_.names()[name].text || tells_cuda_version(spec.name);
    });
}

bool Alternatives::is_build_requested(NameId name) const {
    return std::ranges::any_of(universe_.requested(), [&](SpecId id) {
        const auto& spec = universe_.specs()[id];
        return spec.name == name && speaks_of_builds(spec.match);
    });
}

bool Alternatives::may_change(CandidateId id) const {
    const auto name = universe_.candidates()[id].name;
    return universe_.problem().request.may_move(universe_.names()[name].text) ||
           (universe_.is_requested(name) && (!universe_.former(name) || is_named_now(name)));
}

bool Alternatives::is_better(const Version& version,
                             Accelerator accelerator,
                             CandidateId than) const {
    const auto& candidate = universe_.candidates()[than];
    const auto preferred = universe_.preferred_accelerator(candidate.name);
    return universe_.version_of(than) < version ||
           (version == universe_.version_of(than) && accelerator == preferred &&
            candidate.accelerator != preferred);
}

std::vector<std::string> Alternatives::specs_for_other_kinds(CandidateId id) {
    const auto& candidate = universe_.candidates()[id];
    const auto& name = universe_.names()[candidate.name];
    const bool has_priority = universe_.problem().priority != ChannelPriority::Disabled;
    struct Other {
        bool gives_up_accelerator;
        Version version;
        std::string spec;
    };
    std::vector<Other> others;
    for (const auto& out : name.left_out) {
        // In a lower channel a newer version is no better.
        if (!out.is_other_than_installed() || (has_priority && candidate.channel < out.channel))
            continue;
        auto version = Version::parse(out.record.version());
        if (!version || *version < universe_.version_of(id) || !is_for_machine(universe_, out))
            continue;
        const auto record = out.record.record();
        if (!record) continue;
        const auto accelerator = accelerator_of(*record).accelerator;
        if (!is_better(*version, accelerator, id)) continue;
        others.push_back({accelerator == Accelerator::None && accelerator != candidate.accelerator,
                          *std::move(version),
                          spec_allowing(universe_, candidate.name, out)});
    }
    std::ranges::stable_sort(others,
                             [](const Other& a, const Other& b) { return b.version < a.version; });
    std::vector<std::string> specs;
    const auto add = [&](const std::string& spec) {
        if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(spec);
    };
    const auto add_own = [&](bool gives_up) {
        for (const auto& other : others) {
            if (other.gives_up_accelerator == gives_up) add(other.spec);
        }
    };
    add_own(false);
    // If there is one like the installed one, another package prevents it.
    if (!has_better_alike(id)) {
        add_own(true);
    } else if (universe_.is_requested(candidate.name)) {
        std::ranges::for_each(other_kinds_of_environment(), add);
    }
    return specs;
}

bool Alternatives::has_better_alike(CandidateId id) {
    const auto& name = universe_.name_of(id);
    for (auto one = name.begin; one < name.end; ++one) {
        if (is_better(universe_.version_of(one), universe_.candidates()[one].accelerator, id) &&
            universe_.is_as_requested(one) && machine_.could_run(one))
            return true;
    }
    return false;
}

const std::vector<std::string>& Alternatives::other_kinds_of_environment() {
    if (other_kinds_) return *other_kinds_;
    auto& kinds = other_kinds_.emplace();
    for (const auto& constraint : universe_.problem().request.constraints) {
        if (constraint.holds == Constraint::Holds::WherePossible &&
            tells_cuda_version(constraint.spec.name))
            kinds.push_back(constraint.spec.name);
    }
    for (NameId id = 0; id < universe_.names().size(); ++id) {
        if (!universe_.former(id)) continue;
        for (const auto& out : universe_.names()[id].left_out) {
            if (out.is_other_variant()) kinds.push_back(spec_allowing(universe_, id, out));
        }
    }
    return kinds;
}

bool Alternatives::has_gpu_builds(NameId id) const {
    return std::ranges::any_of(universe_.candidates_of(id),
                               [](const Candidate& candidate) {
                                   return candidate.accelerator != Accelerator::None;
                               }) ||
           universe_.names()[id].lacks(LeftOut::Why::Accelerator) ||
           universe_.names()[id].lacks(LeftOut::Why::OtherAccelerator);
}

std::vector<CandidateId> Alternatives::gpu_builds(CandidateId id, Accelerator vendor) {
    const auto& name = universe_.name_of(id);
    const bool takes_any_major =
        universe_.is_requested(universe_.candidates()[id].name) || universe_.names_cuda();
    std::map<std::pair<int, Version>, std::vector<CandidateId>> by_rank;
    for (auto one = name.begin; one < name.end; ++one) {
        const auto& candidate = universe_.candidates()[one];
        const auto& version = universe_.version_of(one);
        if (candidate.accelerator != vendor || candidate.is_accelerator_inferred ||
            (!takes_any_major &&
             version_part(version, 0) != version_part(universe_.version_of(id), 0)))
            continue;
        const bool is_same = candidate.version == universe_.candidates()[id].version;
        const int rank =
            is_same ? 4
                    : (universe_.is_as_requested(one) ? 2 : 0) + (machine_.could_run(one) ? 1 : 0);
        by_rank[{rank, version}].push_back(one);
    }
    return by_rank.empty() ? std::vector<CandidateId>() : by_rank.rbegin()->second;
}

std::string Alternatives::why_not(CandidateId id, const std::vector<CandidateId>& builds) {
    const auto& selected = universe_.candidates()[id];
    const auto& problem = universe_.problem();
    const auto accelerator = universe_.candidates()[builds.front()].accelerator;
    std::vector<CandidateId> could;
    std::ranges::copy_if(builds, std::back_inserter(could), [&](CandidateId one) {
        return machine_.could_run(one);
    });
    if (could.empty()) return machine_.why_none_runs(builds);
    if (!has_vendor(problem.virtual_packages, accelerator))
        return fmt::format(
            "is for an {} GPU, and {} has none", vendor_title(accelerator), problem.machine);
    const auto is_requested = [&](CandidateId one) { return universe_.is_as_requested(one); };
    if (std::ranges::none_of(could, is_requested)) return "does not match the request";
    if (problem.priority == ChannelPriority::Flexible &&
        std::ranges::all_of(could, [&](CandidateId one) {
            return selected.channel < universe_.candidates()[one].channel;
        }))
        return "is in a channel with lower priority";
    if (auto missing = machine_.why_missing(could)) return *std::move(missing);
    return "conflicts with other packages" +
           how_to_see_why(problem,
                          fmt::format("{}={}={}",
                                      universe_.name_of(id).text,
                                      universe_.version_of(could.front()).to_string(),
                                      build_pattern(could.front())));
}

/// "cuda*" of cuda129_mkl_py314_h245c5d3_300 where that means builds of this version for the same
/// accelerator alone, else the build.
std::string Alternatives::build_pattern(CandidateId id) const {
    const auto& one = universe_.candidates()[id];
    const std::string build(one.build());
    const auto letters = build.substr(0, build.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
    const bool is_clear =
        letters.size() > 2 && letters != build &&
        std::ranges::none_of(universe_.candidates_of(one.name), [&](const Candidate& other) {
            return other.version == one.version && other.accelerator != one.accelerator &&
                   other.build().starts_with(letters);
        });
    return is_clear ? letters + "*" : build;
}

std::optional<std::string> Alternatives::named_cuda() const {
    if (!universe_.names_cuda()) return std::nullopt;
    const auto& problem = universe_.problem();
    const auto found = std::ranges::find_if(problem.request.specs, [&](const MatchSpec& spec) {
        return names_cuda({spec}, problem.virtual_packages);
    });
    return found == problem.request.specs.end() ? std::nullopt : std::optional(as_typed(*found));
}

}  // namespace gpkg::solver
