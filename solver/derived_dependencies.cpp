#include "solver/derived_dependencies.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/toolkit.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <utility>

namespace gpkg::solver {
void DerivedDependencies::infer_accelerators() {
    for (bool has_more = true; std::exchange(has_more, false);) {
        const auto brought = accelerators_by_spec();
        if (std::ranges::none_of(brought, &std::optional<Accelerator>::has_value)) return;
        const auto says_it = [&](SpecId depend) { return brought[depend].has_value(); };
        for (auto& candidate : candidates_) {
            if (candidate.says_accelerator || table_.names()[candidate.name].is_toolkit_part)
                continue;
            const auto found = std::ranges::find_if(candidate.depends, says_it);
            if (found == candidate.depends.end()) continue;
            candidate.accelerator = *brought[*found];
            candidate.says_accelerator = candidate.is_accelerator_inferred = has_more = true;
        }
    }
}

/// Of each spec the accelerator that all builds which it takes are for. For CPUs only where a build
/// is asked for: what needs any build of a package without GPU builds is for no accelerator.
std::vector<std::optional<Accelerator>> DerivedDependencies::accelerators_by_spec() const {
    std::vector<std::optional<Accelerator>> accelerators;
    accelerators.reserve(table_.specs().size());
    for (const auto& spec : table_.specs()) {
        accelerators.emplace_back();
        if (spec.matches.empty() || table_.names()[spec.name].is_virtual) continue;
        const auto& first = candidates_[spec.matches.front()];
        if (!first.says_accelerator ||
            (first.accelerator == Accelerator::None && !spec.match.build))
            continue;
        const bool are_alike = std::ranges::all_of(spec.matches, [&](CandidateId id) {
            return candidates_[id].says_accelerator &&
                   candidates_[id].accelerator == first.accelerator;
        });
        if (are_alike) accelerators.back() = first.accelerator;
    }
    return accelerators;
}

std::optional<ToolkitRange> DerivedDependencies::range_of(const Candidate& candidate) const {
    const auto& name = table_.name(candidate.name);
    return toolkit_of(candidate.toolkit,
                      candidate.accelerator,
                      candidate.build(),
                      name.is_toolkit_part
                          ? toolkit_of_part(name.text, versions_[candidate.version])
                          : std::nullopt);
}

ToolkitFit DerivedDependencies::fit_of(const ToolkitRange& range) {
    const auto [known, is_new] = drivers_.try_emplace(range.vendor);
    if (is_new && !problem_.request.only_compiles)
        known->second = driver_release(problem_.virtual_packages, range.vendor);
    return toolkit_fit(range, known->second);
}

void DerivedDependencies::read_toolkits() {
    for (auto& candidate : candidates_) {
        if (table_.names()[candidate.name].is_virtual) continue;
        candidate.toolkit = range_of(candidate);
        if (candidate.toolkit) candidate.toolkit_fit = fit_of(*candidate.toolkit);
    }
}

std::vector<DerivedLists> DerivedDependencies::add(std::deque<PackageRecord>& records) {
    const auto kept = kept_toolkits();
    if (!kept) return {};
    for (const auto& vendor : vendors()) add_toolkit(vendor.accelerator, *kept, records);
    const auto cpuonly = table_.find_name("cpuonly");
    const auto pytorch = table_.find_name("pytorch");
    // Builds mostly share their lists of dependencies.
    std::map<std::tuple<const SpecId*, std::size_t, std::vector<SpecId>>, std::span<const SpecId>>
        extended;
    std::vector<DerivedLists> derived;
    for (CandidateId id = 0; id < candidates_.size(); ++id) {
        const auto& candidate = candidates_[id];
        auto needs = needs_of(candidate);
        const bool excludes_gpus = cpuonly && pytorch && candidate.name == *cpuonly;
        if (needs.empty() && !excludes_gpus) continue;
        auto& lists =
            derived.emplace_back(DerivedLists{id, candidate.depends, candidate.constrains});
        if (!needs.empty()) {
            auto& list = extended[{candidate.depends.data(), candidate.depends.size(), needs}];
            if (list.empty()) {
                std::vector<SpecId> all(candidate.depends.begin(), candidate.depends.end());
                all.insert(all.begin(), needs.begin(), needs.end());
                list = table_.keep(std::move(all));
            }
            lists.depends = list;
        }
        if (excludes_gpus) {
            std::vector<SpecId> all(candidate.constrains.begin(), candidate.constrains.end());
            all.push_back(derive(*pytorch, "pytorch for CPUs", [](const Candidate& build) {
                return build.accelerator == Accelerator::None;
            }));
            lists.constrains = table_.keep(std::move(all));
        }
    }
    return derived;
}

/// By vendor, those of installed builds of which none is to be updated. Nothing where installed
/// builds contradict each other.
std::optional<std::map<Accelerator, ToolkitRange>> DerivedDependencies::kept_toolkits() const {
    const auto& request = problem_.request;
    std::map<Accelerator, ToolkitRange> common;
    if (request.update_all) return common;
    std::set<Accelerator> updated;
    std::set<NameId> for_cpus;
    std::set<NameId> extended;
    for (const auto& candidate : candidates_) {
        if (!candidate.is_installed) continue;
        if (candidate.says_accelerator && candidate.accelerator == Accelerator::None)
            for_cpus.insert(candidate.name);
        for (const auto depend : candidate.depends) {
            if (candidate.accelerator != Accelerator::None &&
                is_framework(table_.name_of(depend).text))
                extended.insert(table_.specs()[depend].name);
        }
        if (!candidate.toolkit) continue;
        if (request.may_move(table_.names()[candidate.name].text))
            updated.insert(candidate.toolkit->vendor);
        auto& range =
            common.try_emplace(candidate.toolkit->vendor, *candidate.toolkit).first->second;
        if (!range.overlaps(*candidate.toolkit)) return std::nullopt;
        range = range.common_with(*candidate.toolkit);
    }
    if (std::ranges::any_of(extended, [&](NameId name) { return for_cpus.contains(name); }))
        return std::nullopt;
    std::erase_if(common, [&](const auto& one) { return updated.contains(one.first); });
    return common;
}

/// A version for each release at which a range begins or ends: where ranges overlap at all they do
/// in one of these.
void DerivedDependencies::add_toolkit(Accelerator vendor,
                                      const std::map<Accelerator, ToolkitRange>& kept,
                                      std::deque<PackageRecord>& records) {
    std::set<ToolkitVersion> releases;
    for (const auto& candidate : candidates_) {
        if (!candidate.toolkit || candidate.toolkit->vendor != vendor) continue;
        for (const auto& end : {candidate.toolkit->first, candidate.toolkit->last}) {
            if (end.minor != ToolkitVersion::kLastMinor && end.major < 1000) releases.insert(end);
        }
    }
    if (releases.empty()) return;
    for (const auto& spec : problem_.request.specs) {
        const auto named = toolkit_of_request(spec);
        if (!named || named->vendor != vendor) continue;
        std::erase_if(releases, [&](auto release) { return !named->contains(release); });
        releases.insert(named->first);
    }
    const auto id = table_.intern_name(compute_platform(vendor));
    auto& name = table_.name(id);
    name.toolkit_of = vendor;
    name.is_reached = true;
    name.begin = static_cast<CandidateId>(candidates_.size());
    const auto range = kept.find(vendor);
    for (const auto release : releases) {
        auto& record = records.emplace_back();
        record.name = name.text;
        record.version = release.to_string();
        Candidate candidate;
        candidate.name = id;
        candidate.version = static_cast<VersionId>(versions_.size());
        candidate.given = &record;
        candidate.toolkit = ToolkitRange{vendor, release, release};
        candidate.toolkit_fit = fit_of(*candidate.toolkit);
        candidate.is_installed = range != kept.end() && range->second.contains(release);
        versions_.push_back(Version::parse(record.version).value());
        candidates_.push_back(candidate);
    }
    name.end = static_cast<CandidateId>(candidates_.size());
}

template <typename Fits>
SpecId DerivedDependencies::derive(NameId id, std::string text, const Fits& fits) {
    const auto& name = table_.names()[id];
    std::vector<CandidateId> matches;
    for (auto one = name.begin; one < name.end; ++one) {
        if (fits(candidates_[one])) matches.push_back(one);
    }
    return table_.derive(id, std::move(text), std::move(matches));
}

/// Nothing where every build that is taken will do.
std::optional<SpecId> DerivedDependencies::framework_spec(const Candidate& candidate,
                                                          SpecId dependency) {
    if (!is_framework(table_.name_of(dependency).text)) return std::nullopt;
    const auto& spec = table_.specs()[dependency];
    auto matches = spec.matches;
    std::erase_if(matches, [&](CandidateId id) {
        const auto& other = candidates_[id];
        return other.says_accelerator && other.accelerator != candidate.accelerator;
    });
    if (matches.size() == spec.matches.size()) return std::nullopt;
    const auto text = fmt::format("{} for {}", spec.text, compute_platform(candidate.accelerator));
    return table_.derive(spec.name, text, std::move(matches));
}

SpecId DerivedDependencies::toolkit_spec(const ToolkitRange& range) {
    const auto [known, is_new] = toolkit_specs_.try_emplace(range);
    if (is_new)
        known->second = derive(
            *table_.find_name(compute_platform(range.vendor)),
            range.to_string(),
            [&](const Candidate& release) { return range.contains(release.toolkit->first); });
    return known->second;
}

std::vector<SpecId> DerivedDependencies::needs_of(const Candidate& candidate) {
    std::vector<SpecId> needs;
    if (table_.names()[candidate.name].toolkit_of) return needs;
    if (candidate.toolkit) needs.push_back(toolkit_spec(*candidate.toolkit));
    if (candidate.accelerator == Accelerator::None) return needs;
    for (const auto depend : candidate.depends) {
        if (const auto spec = framework_spec(candidate, depend)) needs.push_back(*spec);
    }
    return needs;
}

}  // namespace gpkg::solver
