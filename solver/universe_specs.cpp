// How the texts of specs become numbers: every distinct one once, its condition folded by what the
// machine decides, and in the end with the candidates that it matches.

#include "solver/universe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::solver {
namespace {

/// Marks an index spec that could not be read, so that it is tried once.
constexpr SpecId kUnreadable = kNone - 1;

/// True for most specs: "numpy", "numpy >=1.26,<2".
bool asks_only_version(const MatchSpec& spec) {
    MatchSpec rest;
    rest.name = spec.name;
    rest.version = spec.version;
    rest.extras = spec.extras;
    return rest == spec;
}

bool given_matches(const MatchSpec& spec, const PackageRecord& record, const Version& version) {
    MatchTarget target;
    target.name = record.name;
    target.version = &version;
    target.build = record.build;
    target.build_number = record.build_number;
    target.fn = record.fn;
    target.sha256 = record.sha256;
    target.channel = record.channel;
    target.subdir = record.subdir;
    target.url = record.url;
    target.md5 = record.md5;
    target.license = record.license;
    target.license_family = record.license_family;
    target.flags = &record.flags;
    target.track_features = &record.track_features;
    return spec.matches(target);
}

}  // namespace

NameId Universe::intern_name(std::string_view text) {
    auto [entry, added] =
        name_ids_.try_emplace(std::string(text), static_cast<NameId>(names_.size()));
    if (added) {
        Name name;
        name.text = entry->first;
        name.is_virtual = text.starts_with("__");
        names_.push_back(std::move(name));
    }
    return entry->second;
}

SpecId Universe::intern_spec(MatchSpec match, std::string text, ConditionId when) {
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
            spec.closeness = cascade_.closeness(spec.match);
            spec.will_not_run = cascade_.obstacle(spec.match).has_value();
        }
        for (const auto& group : spec.match.extras)
            spec.extras.push_back(conditions_.extra(spec.name, group));
        names_[spec.name].specs.push_back(entry->second);
        specs_.push_back(std::move(spec));
    }
    return entry->second;
}

SpecId Universe::intern_spec(MatchSpec match) {
    auto text = match.to_string();
    return intern_spec(std::move(match), std::move(text), kAlways);
}

Result<SpecId> Universe::intern_spec(std::string_view text) {
    const auto known = spec_ids_.find(std::string(text));
    if (known != spec_ids_.end()) return known->second;
    GPKG_TRY(auto match, MatchSpec::parse(text));
    if (!match.has_one_name())
        return fail(ErrorKind::Parse, fmt::format("{}: a dependency needs a plain name", text));
    ConditionId when = kAlways;
    if (match.when) {
        GPKG_TRY(const auto condition, Condition::parse(*match.when));
        GPKG_TRY(when, intern_condition(condition));
    }
    return intern_spec(std::move(match), std::string(text), when);
}

/// A dependency of a group of extras: it applies where somebody asks for the group.
Result<SpecId> Universe::intern_extra(std::string_view text, NameId name, std::string_view group) {
    GPKG_TRY(const auto plain, intern_spec(text));
    const auto when = conditions_.all_of(conditions_.extra(name, group), specs_[plain].when);
    return intern_spec(
        specs_[plain].match, fmt::format("{}\n{}\n{}", text, names_[name].text, group), when);
}

/// Of `constrains` nothing but what they match counts: a condition on them is ignored, as rattler
/// does.
SpecId Universe::without_condition(SpecId id) {
    if (specs_[id].when == kAlways && specs_[id].extras.empty()) return id;
    if (specs_[id].when != kAlways && !std::exchange(has_conditional_constrains_, true))
        notes_.push_back(
            fmt::format("{}: stands in `constrains`, where `when` is ignored", specs_[id].text));
    auto match = specs_[id].match;
    match.extras.clear();
    return intern_spec(std::move(match));
}

Result<ConditionId> Universe::intern_condition(const Condition& condition) {
    if (condition.kind == Condition::Kind::Leaf) {
        auto match = *condition.spec;
        if (!match.has_one_name())
            return fail(ErrorKind::Parse,
                        fmt::format("{}: a condition needs plain names", match.to_string()));
        // Which extras a package was asked for is no property of it.
        match.extras.clear();
        if (match.name.starts_with("__")) return decided_by_machine(match);
        return conditions_.leaf(intern_spec(std::move(match)));
    }
    const bool is_and = condition.kind == Condition::Kind::And;
    auto whole = is_and ? kAlways : kNever;
    for (const auto& part : condition.parts) {
        GPKG_TRY(const auto one, intern_condition(part));
        whole = is_and ? conditions_.all_of(whole, one) : conditions_.any_of(whole, one);
    }
    return whole;
}

ConditionId Universe::decided_by_machine(const MatchSpec& leaf) const {
    const auto& packages = problem_->virtual_packages;
    const bool holds = std::any_of(
        packages.begin(), packages.end(), [&](const auto& record) { return leaf.matches(record); });
    return holds ? kAlways : kNever;
}

std::span<const SpecId> Universe::keep_list(std::vector<SpecId> list) {
    if (list.empty()) return {};
    return lists_.emplace_back(std::move(list));
}

/// kUnreadable for one that cannot be read.
Result<SpecId> Universe::take_spec(const ChannelIndex& index, ChannelIndex::SpecNumber number) {
    auto& known = index_specs_[&index];
    if (known.empty()) known.assign(index.spec_count(), kNone);
    if (known[number] == kNone) {
        GPKG_TRY(const auto text, index.spec(number));
        known[number] = intern_spec(text).value_or(kUnreadable);
    }
    return known[number];
}

void Universe::add_dependency(SpecId id, Asks& asks) const {
    const auto when = specs_[id].when;
    if (when == kNever) return;
    (when == kAlways ? asks.specs : asks.conditional).push_back(id);
}

Universe::List Universe::keep(Asks asks) {
    List list;
    for (const auto id : asks.specs) {
        const auto& spec = specs_[id];
        list.accelerator.take(spec.accelerator);
        list.closeness.take(spec.closeness);
        list.will_not_run = list.will_not_run || spec.will_not_run;
    }
    list.specs = keep_list(std::move(asks.specs));
    list.conditional = keep_list(std::move(asks.conditional));
    return list;
}

template <typename Read>
Result<Universe::List> Universe::take_once(KnownLists& known,
                                           ChannelIndex::List list,
                                           const Read& read) {
    if (list == 0) return List{};
    if (const auto found = known.find(list); found != known.end()) return found->second;
    Asks asks;
    GPKG_TRY(const bool is_readable, read(asks));
    const auto kept = is_readable ? keep(std::move(asks)) : List{{}, {}, false, {}, {}, false};
    return known.emplace(list, kept).first->second;
}

Result<Universe::List> Universe::take_depends(const ChannelRecord& record,
                                              ChannelIndex::List list) {
    return take_once(home_depends_, list, [&](Asks& asks) -> Result<bool> {
        for (const auto number : record.home->specs(list)) {
            GPKG_TRY(const auto id, take_spec(*record.index, number));
            if (id == kUnreadable) return false;
            add_dependency(id, asks);
        }
        return true;
    });
}

Result<Universe::List> Universe::take_constrains(const ChannelRecord& record,
                                                 ChannelIndex::List list) {
    return take_once(home_constrains_, list, [&](Asks& asks) -> Result<bool> {
        for (const auto number : record.home->specs(list)) {
            GPKG_TRY(const auto id, take_spec(*record.index, number));
            if (id == kUnreadable) return false;
            asks.specs.push_back(without_condition(id));
        }
        return true;
    });
}

/// Groups in the order of their names.
Result<Universe::List> Universe::take_extras(NameId name,
                                             const ChannelRecord& record,
                                             ChannelIndex::List list) {
    return take_once(home_extras_, list, [&](Asks& asks) -> Result<bool> {
        const auto& home = *record.home;
        const auto span = home.extras(list);
        std::vector<ChannelIndex::Extra> extras(span.begin(), span.end());
        std::sort(extras.begin(), extras.end(), [&](const auto& a, const auto& b) {
            return home.text(a.group) < home.text(b.group);
        });
        for (const auto& extra : extras) {
            for (const auto number : home.specs(extra.specs)) {
                GPKG_TRY(const auto text, record.index->spec(number));
                const auto id = intern_extra(text, name, home.text(extra.group));
                if (!id) return false;
                add_dependency(*id, asks);
            }
        }
        return true;
    });
}

void Universe::link_specs() {
    for (auto& spec : specs_) {
        const auto& name = names_[spec.name];
        const bool only_version = asks_only_version(spec.match);
        // Rows of one version mostly stand together, so the last answer is mostly the next one.
        VersionId last = kNone;
        bool last_matches = false;
        for (auto id = name.begin; id < name.end; ++id) {
            const auto& candidate = candidates_[id];
            if (spec.match.version) {
                if (candidate.version != last) {
                    last = candidate.version;
                    last_matches = spec.match.version->matches(versions_[last]);
                }
                if (!last_matches) continue;
            }
            if (only_version) {
                spec.matches.push_back(id);
                continue;
            }
            const auto& version = versions_[candidate.version];
            const bool fits = candidate.is_offered()
                                  ? candidate.offered.matches(spec.match, version)
                                  : given_matches(spec.match, *candidate.given, version);
            if (fits) spec.matches.push_back(id);
        }
    }
}

std::vector<SpecId> Universe::leaves(ConditionId condition) const {
    std::vector<SpecId> specs;
    for (const auto part : conditions_.parts_of(condition)) {
        if (conditions_[part].kind == ConditionNode::Kind::Leaf)
            specs.push_back(conditions_[part].spec);
    }
    return specs;
}

}  // namespace gpkg::solver
