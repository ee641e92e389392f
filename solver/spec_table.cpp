#include "solver/spec_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::solver {
namespace {

constexpr std::size_t kLikelySpecs = std::size_t{1} << 13U;

/// True for most specs: "numpy", "numpy >=1.26,<2".
bool asks_only_version(const MatchSpec& spec) {
    MatchSpec rest;
    rest.name = spec.name;
    rest.version = spec.version;
    rest.extras = spec.extras;
    return rest == spec;
}

}  // namespace

SpecTable::SpecTable(const std::vector<PackageRecord>& virtual_packages)
    : machine_(&virtual_packages), cascade_(virtual_packages), limits_(virtual_packages) {
    // What is not used of it costs nothing; to move all that is here, again and again, would.
    specs_.reserve(kLikelySpecs);
}

std::optional<NameId> SpecTable::find_name(std::string_view text) const {
    const auto found = name_ids_.find(std::string(text));
    return found == name_ids_.end() ? std::nullopt : std::optional(found->second);
}

NameId SpecTable::intern_name(std::string_view text) {
    auto [entry, added] =
        name_ids_.try_emplace(std::string(text), static_cast<NameId>(names_.size()));
    if (added) {
        Name name;
        name.text = entry->first;
        name.is_virtual = text.starts_with("__");
        name.is_toolkit_part = is_toolkit_part(text);
        name.is_vendor_part = is_vendor_part(text);
        names_.push_back(std::move(name));
    }
    return entry->second;
}

SpecId SpecTable::add(MatchSpec match, std::string text, ConditionId when) {
    auto [entry, added] =
        spec_ids_.try_emplace(std::move(text), static_cast<SpecId>(specs_.size()));
    if (added) {
        Spec spec;
        spec.match = std::move(match);
        const bool is_conditional = spec.match.when.has_value();
        spec.match.when.reset();
        spec.name = intern_name(spec.match.name);
        spec.text = entry->first;
        spec.when = when;
        const auto build = spec.match.build ? spec.match.build->text() : std::string_view();
        // Also where the machine decides that it applies: a build is for the same everywhere.
        if (!is_conditional) {
            spec.accelerator = accelerator_of_dependency(spec.match.name, build);
            spec.toolkit = toolkit_of_dependency(spec.match);
            spec.closeness = cascade_.closeness(spec.match);
            spec.will_not_run = limits_.obstacle(spec.match).has_value();
            spec.will_not_run_constrained = limits_.obstacle_in_constrains(spec.match).has_value();
        }
        for (const auto& group : spec.match.extras)
            spec.extras.push_back(conditions_.extra(spec.name, group));
        names_[spec.name].specs.push_back(entry->second);
        specs_.push_back(std::move(spec));
    }
    return entry->second;
}

SpecId SpecTable::intern(MatchSpec match) {
    auto text = match.to_string();
    return add(std::move(match), std::move(text), kAlways);
}

Result<SpecId> SpecTable::intern(std::string_view text) {
    const auto known = spec_ids_.find(std::string(text));
    if (known != spec_ids_.end()) return known->second;
    GPKG_TRY(auto match, MatchSpec::parse(text));
    if (!match.has_one_name())
        return fail(ErrorKind::Parse,
                    fmt::format("'{}': a dependency needs a package name, not a pattern", text));
    ConditionId when = kAlways;
    if (match.when) {
        GPKG_TRY(const auto condition, Condition::parse(*match.when));
        GPKG_TRY(when, intern_condition(condition));
    }
    return add(std::move(match), std::string(text), when);
}

Result<SpecId> SpecTable::intern_extra(std::string_view text, NameId name, std::string_view group) {
    GPKG_TRY(const auto plain, intern(text));
    const auto when = conditions_.join(
        ConditionNode::Kind::And, conditions_.extra(name, group), specs_[plain].when);
    return add(
        specs_[plain].match, fmt::format("{}\n{}\n{}", text, names_[name].text, group), when);
}

SpecId SpecTable::without_condition(SpecId id) {
    if (specs_[id].when == kAlways && specs_[id].extras.empty()) return id;
    if (specs_[id].when != kAlways && !first_ignored_) first_ignored_ = id;
    auto match = specs_[id].match;
    match.extras.clear();
    return intern(std::move(match));
}

Result<ConditionId> SpecTable::intern_condition(const Condition& condition) {
    if (condition.kind == Condition::Kind::Leaf) {
        auto match = *condition.spec;
        if (!match.has_one_name())
            return fail(ErrorKind::Parse,
                        fmt::format("'{}': a condition needs package names, not patterns",
                                    match.to_string()));
        // Which extras a package was asked for is no property of it.
        match.extras.clear();
        if (match.name.starts_with("__")) return decided_by_machine(match);
        return conditions_.leaf(intern(std::move(match)));
    }
    const bool is_and = condition.kind == Condition::Kind::And;
    const auto kind = is_and ? ConditionNode::Kind::And : ConditionNode::Kind::Or;
    auto whole = is_and ? kAlways : kNever;
    for (const auto& part : condition.parts) {
        GPKG_TRY(const auto one, intern_condition(part));
        whole = conditions_.join(kind, whole, one);
    }
    return whole;
}

ConditionId SpecTable::decided_by_machine(const MatchSpec& leaf) const {
    const bool holds = std::any_of(machine_->begin(), machine_->end(), [&](const auto& record) {
        return leaf.matches(record);
    });
    return holds ? kAlways : kNever;
}

SpecId SpecTable::derive(NameId name, std::string_view text, std::vector<CandidateId> matches) {
    auto [entry, added] = spec_ids_.try_emplace(fmt::format("{}\n{}", names_[name].text, text),
                                                static_cast<SpecId>(specs_.size()));
    if (added) {
        Spec spec;
        spec.match.name = names_[name].text;
        spec.name = name;
        spec.text = text;
        spec.is_derived = true;
        spec.matches = std::move(matches);
        names_[name].specs.push_back(entry->second);
        specs_.push_back(std::move(spec));
    }
    return entry->second;
}

std::span<const SpecId> SpecTable::keep(std::vector<SpecId> list) {
    if (list.empty()) return {};
    return lists_.emplace_back(std::move(list));
}

void SpecTable::link(const std::vector<Candidate>& candidates,
                     const std::vector<Version>& versions) {
    for (auto& spec : specs_) {
        spec.matches.clear();
        const auto& name = names_[spec.name];
        const bool only_version = asks_only_version(spec.match);
        // Rows of one version mostly stand together, so the last answer is mostly the next one.
        VersionId last = kNone;
        bool last_matches = false;
        for (auto id = name.begin; id < name.end; ++id) {
            const auto& candidate = candidates[id];
            if (spec.match.version) {
                if (candidate.version != last) {
                    last = candidate.version;
                    last_matches = spec.match.version->matches(versions[last]);
                }
                if (!last_matches) continue;
            }
            if (only_version) {
                spec.matches.push_back(id);
                continue;
            }
            const auto& version = versions[candidate.version];
            const bool fits = candidate.is_offered()
                                  ? candidate.offered.matches(spec.match, version)
                                  : spec.match.matches(*candidate.given, version);
            if (fits) spec.matches.push_back(id);
        }
    }
}

}  // namespace gpkg::solver
