#include "solver/explain/fixes.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/contradictions.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/explain/clash.hpp"
#include "solver/explain/gains.hpp"
#include "solver/explain/parts.hpp"
#include "solver/explain/suggestions.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>

namespace gpkg::solver {
namespace {

using Change = ProblemChange::Kind;

constexpr std::size_t kMostFixes = 3;
/// Sets of changes that are solved, and those that follow the first fix.
constexpr std::size_t kMostTries = 80;
constexpr std::size_t kMoreTries = 6;
/// Sets of changes that are looked at: most need no solve.
constexpr std::size_t kMostSets = 5000;

/// A set of changes: a node of the search.
struct ChangeSet {
    std::vector<Suggestion> steps;
    int least = 0;  ///< what it costs, with what it takes to resolve the other known conflicts
    std::size_t hit = 0;  ///< how many of those it resolves
    std::size_t order = 0;

    /// The cheapest first; of equals those that are nearest to the end.
    friend bool operator<(const ChangeSet& a, const ChangeSet& b) {
        if (a.least != b.least) return a.least < b.least;
        if (a.steps.size() != b.steps.size()) return a.steps.size() > b.steps.size();
        return a.order < b.order;
    }
};

std::vector<ProblemChange> changes_of(const std::vector<Suggestion>& steps) {
    std::vector<ProblemChange> changes;
    changes.reserve(steps.size());
    for (const auto& step : steps) changes.push_back(step.change);
    return changes;
}

bool is_of_spec(const ProblemChange& change) {
    return change.kind == Change::ReplaceSpec || change.kind == Change::DropSpec;
}

bool is_same_subject(const ProblemChange& a, const ProblemChange& b) {
    if (is_of_spec(a) || is_of_spec(b)) return is_of_spec(a) && is_of_spec(b) && a.index == b.index;
    const bool is_same = a.kind == b.kind && a.index == b.index && a.name == b.name;
    return is_same && (a.kind != Change::LetChange || a.spec == b.spec);
}

bool has_remark(const Fix& fix) {
    return !std::ranges::all_of(fix.gives, &std::string::empty, &Fix::Package::remark);
}

bool has_change(const Fix& fix, Change kind) {
    return std::ranges::find(fix.changes, kind, &ProblemChange::kind) != fix.changes.end();
}

/// The places that are left of `count` once those of `gone` are erased.
std::vector<std::size_t> places_left(std::size_t count, const std::set<std::size_t>& gone) {
    std::vector<std::size_t> places(count);
    std::iota(places.begin(), places.end(), 0U);
    std::erase_if(places, [&](auto place) { return gone.contains(place); });
    return places;
}

bool is_past(Deadline deadline) { return deadline && std::chrono::steady_clock::now() > *deadline; }

class Fixing {
public:
    Fixing(const Universe& universe, const Edges& edges, const Decide& decide, Deadline deadline)
        : universe_(universe), edges_(edges), decide_(decide), deadline_(deadline) {}

    std::vector<Fix> run(const std::vector<EdgeSet>& clashes) {
        std::set<NameId> names;
        for (const auto& clash : clashes) {
            note_concerned(clash);
            // Of two specs without a package on one name, the second is another conflict once the
            // first is changed.
            if (!names.insert(edges_[*clash.begin()].to).second) continue;
            known_.push_back(suggest(universe_, edges_, clash));
        }
        if (std::ranges::any_of(known_, [](const auto& ways) { return ways.empty(); })) return {};
        search();
        if (fixes_.empty()) fixes_.swap(no_change_);
        if (fixes_.empty()) keep_most();
        if (fixes_.empty()) fixes_.swap(no_change_);
        std::ranges::stable_sort(fixes_, {}, [](const Fix& fix) {
            return has_change(fix, Change::DropSpec) ? 2 : has_remark(fix) ? 1 : 0;
        });
        return std::move(fixes_);
    }

private:
    void note_concerned(const EdgeSet& clash) {
        for (const auto id : clash) {
            const auto& edge = edges_[id];
            if (edge.kind == Edge::Kind::Request) concerned_.specs.insert(edge.index);
            if (edge.kind == Edge::Kind::Constraint)
                concerned_.pinned.insert(
                    universe_.problem().request.constraints[edge.index].spec.name);
        }
    }

    void search() {
        const auto now = std::chrono::steady_clock::now();
        Deadline end;  // the rest is for what is kept
        if (deadline_) end = now + (*deadline_ - now) / 2;
        open_.emplace();
        std::size_t tries = kMostTries;
        for (std::size_t sets = 0; sets < kMostSets && tries > 0 && !open_.empty(); ++sets) {
            const auto set = std::move(open_.extract(open_.begin()).value());
            if (fixes_.size() == kMostFixes || is_past(end)) return;
            if (is_needless(set) || drops_all(set.steps)) continue;
            if (set.hit < known_.size()) {
                extend(set, known_[set.hit]);
                continue;
            }
            const auto changes = changes_of(set.steps);
            if (!tried_.insert({changes.begin(), changes.end()}).second) continue;
            --tries;
            if (attempt(set.steps)) tries = std::min(tries, kMoreTries);
        }
    }

    /// Where something that is a part of it, or gentler on the same things, is a fix already. A fix
    /// with a remark ("CPU build") is not gentler than a plan for other builds of the same package.
    bool is_needless(const ChangeSet& set) const {
        const auto is_more_than = [&](const Fix& fix) {
            const bool is_gentler = set.steps.size() > 1 && !has_remark(fix);
            return std::ranges::all_of(fix.changes, [&](const auto& change) {
                return std::ranges::any_of(set.steps, [&](const auto& step) {
                    return is_same_subject(change, step.change) &&
                           (step.change.kind == Change::DropSpec ||
                            step.change.spec == change.spec || is_gentler || step.is_wide);
                });
            });
        };
        return std::ranges::any_of(fixes_, is_more_than) ||
               std::ranges::any_of(no_change_, is_more_than);
    }

    /// By each of the ways out of a conflict that the set leads to.
    void extend(const ChangeSet& set, const std::vector<Suggestion>& ways) {
        for (const auto& way : ways) {
            auto next = set;
            if (next.hit < known_.size()) ++next.hit;
            next.order = order_++;
            if (!add(way, next.steps)) continue;
            next.least = 0;
            for (const auto& step : next.steps) next.least += step.cost;
            for (auto i = next.hit; i < known_.size(); ++i)
                next.least += std::ranges::min_element(known_[i], {}, &Suggestion::cost)->cost;
            open_.insert(std::move(next));
        }
    }

    /// A machine that is not enough is made a better one; nothing else is changed twice.
    static bool add(const Suggestion& way, std::vector<Suggestion>& steps) {
        const auto same = std::ranges::find_if(
            steps, [&](const auto& step) { return is_same_subject(step.change, way.change); });
        if (same == steps.end()) {
            steps.push_back(way);
            return true;
        }
        if (way.change.kind != Change::SetMachine || same->change.version == way.change.version)
            return false;
        *same = way;
        return true;
    }

    /// What resolves the conflict of a changed problem, as changes of the request itself, which
    /// may have more specs and constraints.
    std::vector<Suggestion> ways_out(const Universe& changed,
                                     const std::vector<Suggestion>& steps) const {
        const Edges edges(changed);
        auto ways =
            suggest(changed,
                    edges,
                    minimal_clash(edges, Parts(changed, edges, changed.problem().deadline)));
        const auto& request = universe_.problem().request;
        std::set<std::size_t> dropped;
        std::set<std::size_t> lifted;
        for (const auto& step : steps) {
            if (step.change.kind == Change::DropSpec) dropped.insert(step.change.index);
            lifted.merge(lifted_by(step.change, request));
        }
        const auto specs = places_left(request.specs.size(), dropped);
        const auto constraints = places_left(request.constraints.size(), lifted);
        std::erase_if(ways, [&](Suggestion& way) {
            auto& index = way.change.index;
            if (is_of_spec(way.change)) index = specs.at(index);
            if (way.change.kind != Change::DropConstraint) return false;
            if (index >= constraints.size()) return true;  // which a step brought
            index = constraints[index];
            return false;
        });
        return ways;
    }

    Suggestion drop(std::size_t index) const {
        ProblemChange change;
        change.index = index;
        change.before = as_typed(universe_.problem().request.specs[index]);
        return {0, std::move(change)};
    }

    /// Makes a fix of the steps, or extends them by what their conflict suggests.
    bool attempt(const std::vector<Suggestion>& steps) {
        const auto decided = try_out(steps, Answer::Best);
        if (!decided) return false;
        if (decided->solution) return add_fix(steps, decided->universe, *decided->solution);
        ChangeSet set;
        set.steps = steps;
        set.hit = known_.size();
        extend(set, ways_out(decided->universe, steps));
        return false;
    }

    bool add_fix(const std::vector<Suggestion>& steps,
                 const Universe& changed,
                 const Solution& solution) {
        auto fix = fix_of(steps, changed, solution);
        if (!is_of_use(fix, solution) || adds_contradiction(steps, solution)) return false;
        // To ask for less and change nothing helps nobody who has another way.
        const bool asks_less =
            std::ranges::any_of(fix.changes, [](const auto& change) { return is_of_spec(change); });
        auto& found = asks_less && is_as_installed(solution) ? no_change_ : fixes_;
        found.push_back(with_least_machine(steps, changed, std::move(fix), solution));
        return &found == &fixes_;
    }

    /// What is decided once the changes are made, if that can be decided.
    std::optional<Decided> try_out(const std::vector<Suggestion>& steps, Answer wanted) const {
        if (is_past(deadline_)) return std::nullopt;
        auto problem = with_changes(universe_.problem(), changes_of(steps));
        if (!problem) return std::nullopt;
        problem->deadline = deadline_;
        auto decided = decide_(*problem, wanted);
        if (!decided) return std::nullopt;
        return *std::move(decided);
    }

    bool is_solved(const std::vector<Suggestion>& steps) const {
        const auto decided = try_out(steps, Answer::Any);
        return decided && decided->solution;
    }

    /// Adds the requested specs to none of them, the first named first, each as it is where that
    /// goes with those before it, else relaxed as little as it needs.
    void keep_most() {
        const auto& request = universe_.problem().request;
        const auto count = request.specs.size() - request.implied;
        std::vector<Suggestion> steps;
        for (std::size_t i = 0; i < count; ++i) steps.push_back(drop(i));
        keep(steps, 0, count);
        if (drops_all(steps)) return;
        attempt(steps);
        for (auto* fixes : {&fixes_, &no_change_})
            for (auto& fix : *fixes) fix.is_smallest = false;
    }

    bool drops_all(const std::vector<Suggestion>& steps) const {
        const auto& request = universe_.problem().request;
        const auto dropped = std::ranges::count_if(
            steps, [](const auto& step) { return step.change.kind == Change::DropSpec; });
        return static_cast<std::size_t>(dropped) + request.implied >= request.specs.size();
    }

    /// Of the specs from `first` to `last`, which `steps` drop: all at once, else half by half.
    void keep(std::vector<Suggestion>& steps, std::size_t first, std::size_t last) const {
        if (first == last || is_past(deadline_)) return;
        auto fewer = steps;
        std::erase_if(fewer, [&](const auto& step) {
            return first <= step.change.index && step.change.index < last;
        });
        if (is_solved(fewer)) {
            steps = std::move(fewer);
        } else if (last - first > 1) {
            const auto middle = first + (last - first) / 2;
            keep(steps, first, middle);
            keep(steps, middle, last);
        } else {
            relax(steps, first);
        }
    }

    void relax(std::vector<Suggestion>& steps, std::size_t index) const {
        // Requests are the first edges.
        auto ways = suggest(universe_, edges_, {static_cast<EdgeId>(index)});
        std::ranges::stable_sort(ways, {}, &Suggestion::cost);
        for (auto& way : ways) {
            if (way.change.kind != Change::ReplaceSpec) continue;
            auto relaxed = steps;
            for (auto& step : relaxed) {
                if (step.change.index == index) step = way;
            }
            if (!is_solved(relaxed)) continue;
            steps = std::move(relaxed);
            return;
        }
    }

    /// The newest machine that anything asks for brings builds for just that. The fix is for the
    /// least that brings the same versions for the same accelerators.
    Fix with_least_machine(std::vector<Suggestion> steps,
                           const Universe& changed,
                           Fix fix,
                           const Solution& solution) const {
        const auto step = std::ranges::find_if(steps, [](const Suggestion& one) {
            return one.is_wide && one.change.kind == Change::SetMachine;
        });
        if (step == steps.end()) return fix;
        const auto& told = fix.changes.at(static_cast<std::size_t>(step - steps.begin()));
        const auto enough = Version::parse(told.version);
        if (told.is_any_version || !enough) return fix;
        auto values = values_asked(changed, *changed.find_name(told.name));
        values.erase(values.lower_bound(*enough), values.end());
        std::vector<Version> lesser(values.begin(), values.end());
        while (!lesser.empty()) {
            const auto middle = lesser.begin() + static_cast<std::ptrdiff_t>(lesser.size() / 2);
            step->change.version = middle->to_string();
            bool is_enough = false;
            if (const auto other = try_out(steps, Answer::Best); other && other->solution) {
                auto own = fix_of(steps, other->universe, *other->solution);
                is_enough = is_of_use(own, *other->solution) &&
                            gives_the_same(own, *other->solution, fix, solution);
                if (is_enough) fix = std::move(own);
            }
            if (is_enough)
                lesser.erase(middle, lesser.end());
            else
                lesser.erase(lesser.begin(), middle + 1);
        }
        return fix;
    }

    static bool gives_the_same(const Fix& one,
                               const Solution& of_one,
                               const Fix& two,
                               const Solution& of_two) {
        return std::ranges::equal(one.gives, two.gives, [&](const auto& a, const auto& b) {
            const auto* record = find_record(of_one.records, a.name);
            const auto* other = find_record(of_two.records, b.name);
            return a.name == b.name && a.version == b.version && a.channel == b.channel &&
                   a.remark == b.remark && record != nullptr && other != nullptr &&
                   accelerator_of(*record).accelerator == accelerator_of(*other).accelerator;
        });
    }

    /// Not where a newer driver would bring what its GPU does not run.
    static bool is_of_use(const Fix& fix, const Solution& solution) {
        return !has_change(fix, Change::SetMachine) ||
               std::ranges::none_of(fix.gives, [&](const auto& package) {
                   return solution.find_not_running(package.name) != nullptr;
               });
    }

    /// Whether the changed specs bring packages that do not go together, and the rest of the
    /// request does not.
    bool adds_contradiction(std::vector<Suggestion> steps, const Solution& solution) const {
        if (contradictions_in(solution.records).empty()) return false;
        for (auto& step : steps) {
            if (step.change.kind == Change::ReplaceSpec) step = drop(step.change.index);
        }
        if (drops_all(steps)) return true;
        const auto rest = try_out(steps, Answer::Best);
        return rest && rest->solution && contradictions_in(rest->solution->records).empty();
    }

    bool is_as_installed(const Solution& solution) const {
        const auto& installed = universe_.problem().request.installed;
        return solution.records.size() == installed.size() &&
               std::ranges::all_of(installed, [&](const PackageRecord& record) {
                   const auto* other = find_record(solution.records, record.name);
                   return other != nullptr && other->version == record.version &&
                          other->build == record.build && other->channel == record.channel;
               });
    }

    Fix fix_of(const std::vector<Suggestion>& steps,
               const Universe& changed,
               const Solution& solution) const {
        Fix fix;
        for (const auto& step : steps)
            fix.changes.push_back(step.is_wide ? narrowed(step.change, solution) : step.change);
        fix.gives = gains_of(universe_, changed, solution, fix.changes, concerned_);
        return fix;
    }

    const Universe& universe_;
    const Edges& edges_;
    const Decide& decide_;
    Deadline deadline_;
    Concerned concerned_;
    /// The ways out of the conflicts that are known beforehand.
    std::vector<std::vector<Suggestion>> known_;
    std::set<ChangeSet> open_;
    std::set<std::set<ProblemChange>> tried_;
    std::vector<Fix> fixes_;
    std::vector<Fix> no_change_;  ///< with which all stays as it is installed
    std::size_t order_ = 0;
};

}  // namespace

std::vector<Fix> find_fixes(const Universe& universe,
                            const Edges& edges,
                            const std::vector<EdgeSet>& clashes,
                            const Decide& decide,
                            Deadline deadline) {
    return Fixing(universe, edges, decide, deadline).run(clashes);
}

}  // namespace gpkg::solver
