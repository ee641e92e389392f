#include "solver/explain/asks.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/spec_text.hpp"
#include "libcore/spec/version_range.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace gpkg::solver {
namespace {

using Set = std::vector<CandidateId>;

constexpr std::size_t kMostAlternatives = 3;

/// "h >=1.14,<2 b1*" for "h >=1.14" and "h <2 b1*", where one spec can say it.
std::optional<MatchSpec> as_one(const Universe& universe, const Way& way) {
    MatchSpec one;
    std::set<std::string> versions;
    for (const auto id : way) {
        const auto& match = universe.specs()[id].match;
        one.name = match.name;
        auto rest = match;
        if (rest.version) versions.insert(rest.version->to_string());
        if (rest.build && one.build && !(*rest.build == *one.build)) return std::nullopt;
        if (rest.build) one.build = rest.build;
        rest.version.reset();
        rest.build.reset();
        MatchSpec bare;
        bare.name = match.name;
        if (!(rest == bare)) return std::nullopt;
    }
    std::string text;
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
        if (version->find('|') != std::string::npos) return std::nullopt;
        text += (text.empty() ? "" : ",") + *version;
    }
    if (text.empty()) return one;
    auto version = VersionSpec::parse(text);
    if (!version) return std::nullopt;
    one.version = *std::move(version);
    return one;
}

/// The specs of a way that have one condition, without those that say no more than the others.
std::string unconditional_text(const Universe& universe, Way way) {
    const auto& specs = universe.specs();
    const auto count = allowed_by(universe, way).size();
    std::stable_sort(way.begin(), way.end(), [&](auto a, auto b) {
        return specs[a].matches.size() < specs[b].matches.size();
    });
    while (way.size() > 1) {
        auto fewer = way;
        fewer.pop_back();
        if (allowed_by(universe, fewer).size() > count) break;
        way = std::move(fewer);
    }
    if (const auto one = as_one(universe, way)) return written(*one);
    std::vector<std::string> texts(way.size());
    std::transform(way.begin(), way.end(), texts.begin(), [&](auto spec) {
        return written(specs[spec].match);
    });
    return join_some(texts, "and", texts.size());
}

/// What always counts first; then by text, so that nothing depends on the order of records.
std::string way_text(const Universe& universe, const Way& way) {
    std::map<ConditionId, Way> by_condition;
    for (const auto id : way) by_condition[universe.specs()[id].when].push_back(id);
    const auto always = by_condition.extract(kAlways);
    std::vector<std::string> texts;
    texts.reserve(by_condition.size());
    for (const auto& [when, some] : by_condition)
        texts.push_back(unconditional_text(universe, some) + " " + condition_text(universe, when));
    std::sort(texts.begin(), texts.end());
    if (always) texts.insert(texts.begin(), unconditional_text(universe, always.mapped()));
    return join_some(texts, "and", texts.size());
}

bool is_plain(const Universe& universe, const Way& way) {
    return std::all_of(
        way.begin(), way.end(), [&](auto id) { return universe.specs()[id].when == kAlways; });
}

/// What one spec, or several together, ask for.
struct Interval {
    VersionRange range;
    std::string as_written;  ///< of the spec, as long as it is alone

    static std::optional<Interval> read(const MatchSpec& spec) {
        if (!spec.version) return std::nullopt;
        const auto range = VersionRange::of(spec);
        return range ? std::optional(Interval{*range, written(spec)}) : std::nullopt;
    }

    std::string text(const std::string& name) const {
        if (!as_written.empty()) return as_written;
        const auto versions = range.to_string();
        return versions.empty() ? name : name + " " + versions;
    }
};

/// Whether there is, or could be, a version from the end of one range to the start of the next.
bool is_gap(const Universe& universe,
            NameId name,
            const std::optional<Version>& end,
            const std::optional<Version>& start) {
    if (!end || !start || *start <= *end) return false;
    return universe.names()[name].is_virtual ||
           std::ranges::any_of(universe.candidates_of(name), [&](const Candidate& candidate) {
               const auto& version = universe.version(candidate.version);
               return *end <= version && version < *start;
           });
}

/// One range where the intervals leave no version that exists between them, else several.
std::vector<std::string> joined(const Universe& universe, NameId to, std::vector<Interval> all) {
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        const auto& from = a.range.from;
        const auto& other = b.range.from;
        return from && other ? *from < *other : !from && other;
    });
    std::vector<Interval> wider;
    for (auto& next : all) {
        if (wider.empty() || is_gap(universe, to, wider.back().range.below, next.range.from)) {
            wider.push_back(std::move(next));
            continue;
        }
        auto& end = wider.back().range.below;
        if (!end || (next.range.below && *next.range.below <= *end)) continue;
        end = std::move(next.range.below);
        wider.back().as_written.clear();
    }
    std::vector<std::string> texts;
    texts.reserve(wider.size());
    for (const auto& interval : wider) texts.push_back(interval.text(universe.names()[to].text));
    return texts;
}

std::string builds_text(const Universe& universe, NameId to, const Set& ids) {
    const auto [low, high] = std::minmax_element(ids.begin(), ids.end(), [&](auto a, auto b) {
        return universe.version_of(a) < universe.version_of(b);
    });
    auto text =
        fmt::format("{} {}", universe.names()[to].text, universe.version_of(*low).to_string());
    if (universe.version_of(*low) != universe.version_of(*high))
        text += " to " + universe.version_of(*high).to_string();
    return fmt::format("{} ({} builds)", text, ids.size());
}

}  // namespace

Way way_of(const Universe& universe, CandidateId id, NameId to, bool* needs) {
    Way way;
    const auto& candidate = universe.candidates()[id];
    for (const auto* list : {&candidate.depends, &candidate.conditional, &candidate.constrains}) {
        for (const auto spec : *list) {
            if (universe.specs()[spec].name != to) continue;
            way.push_back(spec);
            if (needs != nullptr && list != &candidate.constrains) *needs = true;
        }
    }
    std::sort(way.begin(), way.end());
    way.erase(std::unique(way.begin(), way.end()), way.end());
    return way;
}

Asked asked_of(const Universe& universe, const Set& ids, NameId to) {
    Asked asked;
    for (const auto id : ids) {
        bool needs = false;
        auto way = way_of(universe, id, to, &needs);
        if (way.empty()) continue;
        ++asked.members;
        (needs ? asked.some_need : asked.some_restrict) = true;
        if (!is_plain(universe, way)) asked.has_conditions = true;
        asked.ways.insert(std::move(way));
    }
    return asked;
}

Set allowed_by(const Universe& universe, const Way& way) {
    auto all = universe.specs()[way.front()].matches;
    for (const auto spec : way)
        std::erase_if(all, [&](auto id) { return !universe.specs()[spec].allows(id); });
    return all;
}

std::vector<std::string> all_texts(const Universe& universe, const std::set<Way>& ways) {
    std::set<std::string> texts;
    for (const auto& way : ways) texts.insert(way_text(universe, way));
    return {texts.begin(), texts.end()};
}

std::vector<std::string> short_texts(const Universe& universe,
                                     NameId to,
                                     const std::set<Way>& ways) {
    // Alternatives by text, each with what it comes to, and those that are ranges.
    std::map<std::string, Set> sets;
    std::map<std::string, Interval> intervals;
    std::set<std::string> conditional;
    for (const auto& way : ways) {
        auto text = way_text(universe, way);
        if (!sets.try_emplace(text, allowed_by(universe, way)).second) continue;
        if (!is_plain(universe, way)) {
            conditional.insert(text);
            continue;
        }
        if (const auto spec = MatchSpec::parse(text)) {
            if (auto interval = Interval::read(*spec)) intervals.emplace(text, *interval);
        }
    }
    // Where something else is met by no more, it adds nothing to "or". Of the unmet nothing is
    // known that way.
    std::set<std::string> told;
    for (const auto& one : sets) {
        const auto is_covered_by = [&](const auto& other) {
            if (&other == &one || conditional.contains(one.first) ||
                conditional.contains(other.first))
                return false;
            const auto& [text, set] = one;
            const auto& [other_text, more] = other;
            if (!std::includes(more.begin(), more.end(), set.begin(), set.end())) return false;
            return more.size() > set.size() || std::make_pair(other_text.size(), other_text) <
                                                   std::make_pair(text.size(), text);
        };
        if (one.second.empty() || std::none_of(sets.begin(), sets.end(), is_covered_by))
            told.insert(one.first);
    }
    std::vector<std::string> texts;
    std::vector<Interval> ranges;
    for (const auto& text : told) {
        const auto range = intervals.find(text);
        if (range == intervals.end()) {
            texts.push_back(text);
        } else {
            ranges.push_back(range->second);
        }
    }
    const auto of_ranges = joined(universe, to, std::move(ranges));
    texts.insert(texts.begin(), of_ranges.begin(), of_ranges.end());
    if (texts.size() <= kMostAlternatives) return texts;
    std::set<CandidateId> all;
    for (const auto& [text, set] : sets) all.insert(set.begin(), set.end());
    if (all.empty() || universe.names()[to].is_virtual) return texts;
    return {builds_text(universe, to, {all.begin(), all.end()}) +
            (conditional.empty() ? "" : ", conditionally")};
}

}  // namespace gpkg::solver
