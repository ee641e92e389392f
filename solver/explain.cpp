#include "solver/explain.hpp"

#include "libcore/base/text.hpp"
#include "solver/engine.hpp"
#include "solver/preference.hpp"
#include "solver/reductions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace gpkg::solver {
namespace {

using Set = std::vector<CandidateId>;

Set intersection(const Set& a, const Set& b) {
    Set both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
}

Set united(const Set& a, const Set& b) {
    Set all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}

/// The spec as a person would write it: "python >=3.8,<3.9", brackets only where nothing else says
/// it.
std::string written(const MatchSpec& spec) {
    MatchSpec plain;
    plain.name = spec.name;
    plain.version = spec.version;
    plain.build = spec.build;
    if (!(plain == spec)) return spec.to_string();
    auto text = spec.name;
    if (spec.version) text += " " + spec.version->to_string();
    if (spec.build) text += (spec.version ? " " : " * ") + spec.build->text();
    return text;
}

/// One step of "whoever takes this must also take that".
struct Implication {
    Set allowed;                    ///< candidates of the name that are still possible
    std::vector<std::string> path;  ///< "pytorch 2.4.0 needs mkl >=2023", outermost first
};

class Explainer {
public:
    explicit Explainer(const Universe& universe)
        : universe_(universe), ranks_(rank_candidates(universe)) {}

    Explanation run() {
        const auto before = explanation_.lines.size();
        for (const auto spec : universe_.requested()) {
            if (universe_.specs()[spec].matches.empty()) say_unmatched(spec, 0);
        }
        if (explanation_.lines.size() > before) return std::move(explanation_);

        const auto core = minimal_core();
        if (core.size() == 1) {
            say_root(core.front());
            say_dead_end(core.front(), 1);
        } else if (!say_clash(core)) {
            for (const auto spec : core) say_root(spec);
            say(1, "these cannot be installed together");
        }
        return std::move(explanation_);
    }

private:
    void say(int depth, std::string text) {
        explanation_.lines.push_back({depth, std::move(text)});
    }

    const Spec& spec_of(SpecId id) const { return universe_.specs()[id]; }

    bool is_pin(SpecId spec) const {
        const auto& requested = universe_.requested();
        return std::find(requested.begin(), requested.end(), spec) == requested.end();
    }

    void say_root(SpecId spec) {
        say(0,
            fmt::format(
                "{} is {}", written(spec_of(spec).match), is_pin(spec) ? "pinned" : "asked for"));
    }

    /// A spec that matches nothing at all: a wrong name, a version nobody has, a machine that lacks
    /// it.
    void say_unmatched(SpecId id, int depth) {
        const auto& spec = spec_of(id);
        const auto& name = universe_.name_of(spec);
        const auto text = written(spec.match);
        if (name.is_virtual) {
            say_machine(spec, name, depth);
        } else if (name.begin != name.end) {
            say(depth, fmt::format("{}: no such build; there is {}", text, offers(name, spec)));
        } else {
            say_unknown(name.text, text, depth);
        }
    }

    void say_machine(const Spec& spec, const Name& name, int depth) {
        const auto text = written(spec.match);
        if (name.begin == name.end) {
            say(depth, fmt::format("{}: this machine has no {}", text, name.text));
        } else {
            const auto& candidate = universe_.candidates()[name.begin];
            say(depth,
                fmt::format("{}: this machine has {} {}{}",
                            text,
                            name.text,
                            universe_.version(candidate.version).to_string(),
                            candidate.build() == "0" ? "" : " " + std::string(candidate.build())));
        }
        static const std::map<std::string_view, std::string_view> overrides{
            {"__cuda", "CONDA_OVERRIDE_CUDA"},
            {"__cuda_arch", "CONDA_OVERRIDE_CUDA_ARCH"},
            {"__glibc", "CONDA_OVERRIDE_GLIBC"},
            {"__archspec", "CONDA_OVERRIDE_ARCHSPEC"},
            {"__amdgpu", "CONDA_OVERRIDE_AMDGPU"},
            {"__amdgpu_arch", "CONDA_OVERRIDE_AMDGPU_ARCH"},
            {"__rocm", "CONDA_OVERRIDE_ROCM"}};
        const auto found = overrides.find(name.text);
        if (found == overrides.end()) return;
        hint(fmt::format("to decide for a machine that has it, set {}, e.g. {}={}",
                         found->second,
                         found->second,
                         example_value(spec)));
    }

    static std::string example_value(const Spec& spec) {
        if (spec.match.name == "__archspec")
            return spec.match.build ? spec.match.build->text() : "x86_64_v3";
        const auto text = spec.match.version ? spec.match.version->to_string() : "";
        const auto first = text.find_first_of("0123456789");
        if (first == std::string::npos) return spec.match.name == "__cuda" ? "12.8" : "1";
        return text.substr(first, text.find_first_not_of("0123456789.", first) - first);
    }

    void say_unknown(const std::string& name, const std::string& text, int depth) {
        std::vector<std::string> names;
        std::size_t hidden = 0;
        for (const auto& index : universe_.problem().indexes) {
            hidden += index->rows(name).size();
            for (const auto known : index->names()) names.emplace_back(known);
        }
        if (hidden > 0) {
            const bool cut = universe_.problem().exclude_newer.has_value();
            say(depth,
                fmt::format(
                    "{}: {} records of this name, {}",
                    text,
                    hidden,
                    cut ? "all newer than --exclude-newer allows or not in the channel asked for"
                        : "none in the channel asked for or with readable dependencies"));
            return;
        }
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        say(depth, fmt::format("{}: no channel has a package of this name", text));
        if (const auto near = near_names(name, names); depth == 0 && !near.empty())
            hint(fmt::format("did you mean {}?", join_or(near)));
    }

    void hint(std::string text) {
        auto& hints = explanation_.hints;
        if (std::find(hints.begin(), hints.end(), text) == hints.end())
            hints.push_back(std::move(text));
    }

    /// "numpy 2.2.1, 2.2.0, 2.1.3 and 40 more": versions, or builds where the version is there.
    std::string offers(const Name& name, const Spec& spec) const {
        Set ids(name.end - name.begin);
        for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = name.begin + i;
        std::sort(ids.begin(), ids.end(), [&](auto a, auto b) { return ranks_[a] < ranks_[b]; });
        const auto version_fits = [&](CandidateId id) {
            return spec.match.version && spec.match.version->matches(
                                             universe_.version(universe_.candidates()[id].version));
        };
        const bool builds = std::any_of(ids.begin(), ids.end(), version_fits);
        std::vector<std::string> items;
        for (const auto id : ids) {
            if (builds && !version_fits(id)) continue;
            auto item = universe_.version(universe_.candidates()[id].version).to_string();
            if (builds) item += " " + std::string(universe_.candidates()[id].build());
            if (std::find(items.begin(), items.end(), item) == items.end())
                items.push_back(std::move(item));
        }
        constexpr std::size_t kShown = 3;
        const auto shown = std::min(kShown, items.size());
        auto text = fmt::format(
            "{} {}",
            name.text,
            fmt::join(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
        if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
        return text;
    }

    bool feasible(const std::vector<SpecId>& specs) const {
        auto live = make_consistent(universe_, specs).live;
        std::vector<Goal> goals;
        for (const auto spec : specs) {
            if (is_pin(spec)) continue;
            if (spec_of(spec).matches.empty()) return false;
            if (!universe_.name_of(spec_of(spec)).is_virtual)
                goals.push_back({spec_of(spec).matches, false});
        }
        remove_dominated(universe_, ranks_, live);
        return Engine(universe_, live, ranks_).solve(goals).has_value();
    }

    /// The fewest of the user's specs that have no solution: leave any one out and they have.
    std::vector<SpecId> minimal_core() const {
        auto core = universe_.requested();
        core.insert(core.end(), universe_.constraints().begin(), universe_.constraints().end());
        for (std::size_t i = core.size(); i-- > 0;) {
            auto fewer = core;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (!feasible(fewer)) core = std::move(fewer);
        }
        return core;
    }

    /// Every candidate of `spec` fails: follows the commonest reason down to what is missing.
    void say_dead_end(SpecId id, int depth) {
        const auto state = make_consistent(universe_, {});
        std::set<SpecId> seen;
        for (SpecId spec = id; depth < kDeepest && seen.insert(spec).second; ++depth) {
            std::map<SpecId, std::vector<CandidateId>> reasons;
            for (const auto match : spec_of(spec).matches) {
                if (!state.live[match]) reasons[state.deaths[match].spec].push_back(match);
            }
            if (reasons.empty() || universe_.name_of(spec_of(spec)).is_virtual) {
                if (spec_of(spec).matches.empty()) {
                    say_unmatched(spec, depth);
                } else {
                    say_self_conflict(spec, depth);
                }
                return;
            }
            const auto commonest =
                std::max_element(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
                    return a.second.size() < b.second.size();
                });
            say(depth,
                fmt::format("{} {} {}",
                            subject(commonest->second),
                            commonest->second.size() == 1 ? "needs" : "need",
                            written(spec_of(commonest->first).match)));
            spec = commonest->first;
        }
    }

    void say_self_conflict(SpecId spec, int depth) {
        say(depth,
            fmt::format("{} has candidates, but the dependencies of each exclude one another",
                        written(spec_of(spec).match)));
    }

    /// "pytorch 2.4.0 cuda_0", or "all 12 builds of pytorch 2.3.0 to 2.4.1".
    std::string subject(const Set& ids) const {
        if (ids.size() == 1) return universe_.describe(ids.front());
        const auto version = [&](CandidateId id) -> const Version& {
            return universe_.version(universe_.candidates()[id].version);
        };
        const auto [low, high] = std::minmax_element(
            ids.begin(), ids.end(), [&](auto a, auto b) { return version(a) < version(b); });
        const auto& name = universe_.names()[universe_.candidates()[ids.front()].name].text;
        if (version(*low) == version(*high))
            return fmt::format(
                "all {} builds of {} {}", ids.size(), name, version(*low).to_string());
        return fmt::format("all {} builds of {} {} to {}",
                           ids.size(),
                           name,
                           version(*low).to_string(),
                           version(*high).to_string());
    }

    /// What everybody who meets `root` must take or leave, by name.
    std::map<NameId, Implication> implications(SpecId root, const Live& live) const {
        std::map<NameId, Implication> known;
        Set start;
        for (const auto id : spec_of(root).matches) {
            if (live[id]) start.push_back(id);
        }
        known[spec_of(root).name] = {start, {}};
        std::vector<NameId> queue{spec_of(root).name};
        for (std::size_t next = 0; next < queue.size() && next < kMostNames; ++next) {
            const auto from = known[queue[next]];
            if (from.path.size() >= kDeepest) continue;
            for (auto& [name, allowed] : demanded_by_all(from.allowed, live)) {
                if (known.contains(name)) continue;
                auto path = from.path;
                path.push_back(fmt::format("{} {} {}",
                                           subject(from.allowed),
                                           from.allowed.size() == 1 ? "needs" : "need",
                                           demand_text(from.allowed, name)));
                known[name] = {std::move(allowed), std::move(path)};
                queue.push_back(name);
            }
        }
        return known;
    }

    /// Names that every member depends on or constrains, with the union of what they accept.
    std::map<NameId, Set> demanded_by_all(const Set& members, const Live& live) const {
        std::map<NameId, std::pair<std::size_t, Set>> counted;
        for (const auto id : members) {
            std::map<NameId, Set> mine;
            const auto restrict_to = [&](SpecId spec) {
                Set matches;
                for (const auto match : spec_of(spec).matches) {
                    if (live[match]) matches.push_back(match);
                }
                auto [entry, added] = mine.try_emplace(spec_of(spec).name, matches);
                if (!added) entry->second = intersection(entry->second, matches);
            };
            for (const auto spec : universe_.candidates()[id].depends) restrict_to(spec);
            for (const auto spec : universe_.candidates()[id].constrains) restrict_to(spec);
            for (auto& [name, allowed] : mine) {
                auto& [count, all] = counted[name];
                ++count;
                all = united(all, allowed);
            }
        }
        std::map<NameId, Set> demanded;
        for (auto& [name, entry] : counted) {
            if (entry.first == members.size() && !universe_.names()[name].is_virtual)
                demanded[name] = std::move(entry.second);
        }
        return demanded;
    }

    /// The specs on `name` that the members name, shortest list first: "python 3.10.* or
    /// python 3.11.*".
    std::string demand_text(const Set& members, NameId name) const {
        std::set<std::string> texts;
        for (const auto id : members) {
            const auto& candidate = universe_.candidates()[id];
            for (const auto* list : {&candidate.depends, &candidate.constrains}) {
                for (const auto spec : *list) {
                    if (spec_of(spec).name == name) texts.insert(written(spec_of(spec).match));
                }
            }
        }
        constexpr std::size_t kShown = 3;
        std::vector<std::string> shown(texts.begin(), texts.end());
        const auto more = shown.size() > kShown ? shown.size() - kShown : 0;
        shown.resize(shown.size() - more);
        if (more > 0) return fmt::format("{} or {} others", fmt::join(shown, ", "), more);
        return join_or(shown);
    }

    /// Two of the core that lead to one name and want different candidates of it.
    bool say_clash(const std::vector<SpecId>& core) {
        const auto live = make_consistent(universe_, {}).live;
        std::vector<std::map<NameId, Implication>> all;
        all.reserve(core.size());
        for (const auto spec : core) all.push_back(implications(spec, live));

        std::size_t best_length = std::string::npos;
        std::size_t first = 0, second = 0;
        NameId clash = kNone;
        for (std::size_t i = 0; i < core.size(); ++i) {
            for (std::size_t j = i + 1; j < core.size(); ++j) {
                for (const auto& [name, one] : all[i]) {
                    const auto two = all[j].find(name);
                    if (two == all[j].end() ||
                        !intersection(one.allowed, two->second.allowed).empty())
                        continue;
                    const auto length = one.path.size() + two->second.path.size();
                    if (length >= best_length) continue;
                    best_length = length;
                    first = i;
                    second = j;
                    clash = name;
                }
            }
        }
        if (clash == kNone) return false;
        for (std::size_t i = 0; i < core.size(); ++i) {
            say_root(core[i]);
            if (i != first && i != second) continue;
            int depth = 1;
            for (const auto& step : all[i].at(clash).path) say(depth++, step);
        }
        say(0, fmt::format("no {} meets both", universe_.names()[clash].text));
        return true;
    }

    static constexpr int kDeepest = 6;
    static constexpr std::size_t kMostNames = 200;

    const Universe& universe_;
    std::vector<std::uint32_t> ranks_;
    Explanation explanation_;
};

}  // namespace

Explanation explain(const Universe& universe) { return Explainer(universe).run(); }

}  // namespace gpkg::solver
