#include "solver/explain/fixes.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/explain/clash.hpp"
#include "solver/explain/parts.hpp"
#include "solver/explain/suggestions.hpp"
#include "solver/preference.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace gpkg::solver {
namespace {

constexpr std::size_t kMostFixes = 3;
/// Each costs a solve.
constexpr int kMostAttempts = 7;
/// Beside these: tries of a better machine where the one that a clash asked for was not enough.
constexpr int kMostRaised = 5;
constexpr std::size_t kMostChanges = 3;
/// Specs that are given up one after the other where nothing else helps.
constexpr std::size_t kMostGivenUp = 7;

class Fixing {
public:
    Fixing(const Universe& universe, const Decide& decide, Deadline deadline)
        : universe_(universe), decide_(decide), deadline_(deadline) {}

    std::vector<Fix> run(const Edges& edges, const std::vector<EdgeSet>& clashes) {
        // Several are of specs without a package, each a trouble of its own but for those of one
        // name. The search is for the first; of the others what is nearest is taken.
        std::vector<Suggestion> others;
        std::set<NameId> names;
        for (const auto& clash : clashes) {
            note_concerned(edges, clash);
            const bool is_new = names.insert(edges[clash.list().front()].to).second;
            if (&clash == &clashes.front() || !is_new) continue;
            auto ways = suggest(universe_, edges, clash);
            const auto best = std::min_element(
                ways.begin(), ways.end(), [](auto& a, auto& b) { return a.cost < b.cost; });
            if (best != ways.end()) others.push_back(std::move(*best));
        }
        search(others, edges, clashes.front());
        if (fixes_.empty()) fixes_.swap(no_change_);
        if (fixes_.empty()) drop_one(edges, clashes.front());
        if (fixes_.empty()) drop_until_solved(edges, clashes.front());
        if (fixes_.empty()) keep_one();
        if (fixes_.empty()) fixes_.swap(no_change_);
        put_remarked_last();
        put_newer_first();
        return std::move(fixes_);
    }

private:
    struct Plan {
        int cost = 0;
        std::size_t order = 0;
        std::vector<Suggestion> steps;
        bool is_raised = false;  ///< has a better machine than the plan that led to it
        /// The cheapest first; of equals, those that are nearest to the end.
        friend bool operator<(const Plan& a, const Plan& b) {
            if (a.cost != b.cost) return a.cost < b.cost;
            if (a.steps.size() != b.steps.size()) return a.steps.size() > b.steps.size();
            return a.order < b.order;
        }
    };

    /// Of those that give up nothing that is asked for.
    void put_remarked_last() {
        const auto gives_up = [](const Fix& fix) {
            return std::ranges::any_of(fix.changes, [](const auto& change) {
                return change.kind == ProblemChange::Kind::DropSpec;
            });
        };
        const auto end = std::ranges::find_if(fixes_, gives_up);
        std::stable_partition(fixes_.begin(), end, [](const Fix& fix) { return !has_remark(fix); });
    }

    /// Whether `one` changes the machine alone and gives the same packages, none older, and one of
    /// them in a newer major version. A version such as 3.13 instead of 3.10 alone is no reason.
    static bool is_much_newer(const Fix& one, const Fix& other) {
        const bool is_of_machine = std::ranges::all_of(one.changes, [](const auto& change) {
            return change.kind == ProblemChange::Kind::SetMachine;
        });
        if (!is_of_machine || one.gives.size() != other.gives.size()) return false;
        bool is_newer = false;
        for (std::size_t i = 0; i < one.gives.size(); ++i) {  // sorted by name
            const auto own = Version::parse(one.gives[i].version);
            const auto others = Version::parse(other.gives[i].version);
            if (!own || !others || one.gives[i].name != other.gives[i].name || *own < *others)
                return false;
            const auto major = [](const std::string& text) {
                return Version::parse(text.substr(0, text.find('.')));
            };
            const auto own_major = major(one.gives[i].version);
            const auto other_major = major(other.gives[i].version);
            is_newer = is_newer || (own_major && other_major && *other_major < *own_major);
        }
        return is_newer;
    }

    /// A driver for pytorch 2.12 helps more than python=3.10 for pytorch 1.11.
    void put_newer_first() {
        for (auto fix = fixes_.begin(); fix != fixes_.end(); ++fix) {
            auto place = fix;
            while (place != fixes_.begin() && is_much_newer(*fix, *std::prev(place))) --place;
            std::rotate(place, fix, std::next(fix));
        }
    }

    /// Tries what may resolve the clash once `steps` are taken.
    void search(const std::vector<Suggestion>& steps, const Edges& edges, const EdgeSet& clash) {
        most_changes_ = kMostChanges + steps.size();
        extend(steps, universe_, edges, clash);
        int raised = 0;
        for (int attempts = 0; attempts < kMostAttempts && fixes_.size() < kMostFixes;) {
            const auto best = std::min_element(open_.begin(), open_.end());
            if (best == open_.end()) break;
            const auto plan = std::move(*best);
            open_.erase(best);
            if (is_needless(plan) || !tried_.insert(texts_of(plan)).second) continue;
            if (!plan.is_raised || ++raised > kMostRaised) ++attempts;
            attempt(plan);
        }
    }

    void note_concerned(const Edges& edges, const EdgeSet& clash) {
        for (const auto id : clash.list()) {
            if (edges[id].kind == Edge::Kind::Request) concerned_.insert(edges[id].index);
            if (edges[id].kind == Edge::Kind::Constraint)
                pinned_.insert(universe_.problem().request.constraints[edges[id].index].spec.name);
        }
    }

    static bool is_same_subject(const ProblemChange& a, const ProblemChange& b) {
        using Change = ProblemChange::Kind;
        const auto is_spec = [](const auto& change) {
            return change.kind == Change::ReplaceSpec || change.kind == Change::DropSpec;
        };
        if (is_spec(a) || is_spec(b)) return is_spec(a) && is_spec(b) && a.index == b.index;
        const bool is_same = a.kind == b.kind && a.index == b.index && a.name == b.name;
        return is_same && (a.kind != Change::LetChange || a.spec == b.spec);
    }

    static bool has_remark(const Fix& fix) {
        return !std::ranges::all_of(fix.gives, &std::string::empty, &Fix::Package::remark);
    }

    /// Where something that is a part of it, or gentler on the same things, is a fix already. A fix
    /// with a remark ("CPU build") is not gentler than a plan for other builds of the same package.
    bool is_needless(const Plan& plan) const {
        const auto is_more_than = [&](const Fix& fix) {
            const bool is_gentler = plan.steps.size() > 1 && !has_remark(fix);
            return std::all_of(fix.changes.begin(), fix.changes.end(), [&](const auto& change) {
                return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const auto& step) {
                    return is_same_subject(change, step.change) &&
                           (step.change.kind == ProblemChange::Kind::DropSpec ||
                            step.change.spec == change.spec || is_gentler || step.is_wide);
                });
            });
        };
        return std::any_of(fixes_.begin(), fixes_.end(), is_more_than) ||
               std::any_of(no_change_.begin(), no_change_.end(), is_more_than);
    }

    /// What the steps change, in whatever order they were found.
    static std::set<std::string> texts_of(const Plan& plan) {
        std::set<std::string> texts;
        for (const auto& step : plan.steps) {
            const auto& change = step.change;
            texts.insert(fmt::format("{} {} {} {} {} {}",
                                     static_cast<int>(change.kind),
                                     change.index,
                                     change.name,
                                     change.version,
                                     change.build,
                                     change.spec));
        }
        return texts;
    }

    /// What resolves this clash, after `steps`, which led to it.
    void extend(const std::vector<Suggestion>& steps,
                const Universe& universe,
                const Edges& edges,
                const EdgeSet& clash) {
        if (steps.size() >= most_changes_) return;
        // The request may have lost specs and constraints on the way here.
        const auto specs = specs_left(steps);
        const auto constraints = constraints_left(steps);
        for (auto& next : suggest(universe, edges, clash)) {
            auto& change = next.change;
            if (change.kind == ProblemChange::Kind::DropConstraint) {
                if (change.index >= constraints.size()) continue;  // which a step brought
                change.index = constraints[change.index];
            } else if (change.kind == ProblemChange::Kind::DropSpec ||
                       change.kind == ProblemChange::Kind::ReplaceSpec) {
                change.index = specs[change.index];
            }
            Plan plan;
            plan.order = order_++;
            plan.steps = steps;
            // A machine that is not enough is made a better one; a spec is not changed twice.
            const auto again =
                std::find_if(plan.steps.begin(), plan.steps.end(), [&](const auto& step) {
                    return is_same_subject(step.change, change);
                });
            if (again == plan.steps.end()) {
                plan.steps.push_back(std::move(next));
            } else if (change.kind == ProblemChange::Kind::SetMachine &&
                       again->change.version != change.version) {
                *again = std::move(next);
                plan.is_raised = true;
            } else {
                continue;
            }
            for (const auto& step : plan.steps) plan.cost += step.cost;
            open_.push_back(std::move(plan));
        }
    }

    std::vector<std::size_t> specs_left(const std::vector<Suggestion>& steps) const {
        std::vector<std::size_t> places(universe_.problem().request.specs.size());
        std::iota(places.begin(), places.end(), 0U);
        for (const auto& step : steps) {
            if (step.change.kind == ProblemChange::Kind::DropSpec)
                std::erase(places, step.change.index);
        }
        return places;
    }

    std::vector<std::size_t> constraints_left(const std::vector<Suggestion>& steps) const {
        const auto& request = universe_.problem().request;
        std::vector<std::size_t> places(request.constraints.size());
        std::iota(places.begin(), places.end(), 0U);
        for (const auto& step : steps) {
            for (const auto lifted : lifted_by(step.change, request)) std::erase(places, lifted);
        }
        return places;
    }

    /// The requested specs of a clash that can be given up, the last named first.
    static std::vector<ProblemChange> drops_of(const Universe& universe,
                                               const Edges& edges,
                                               const EdgeSet& clash) {
        std::vector<ProblemChange> drops;
        for (auto& way : suggest(universe, edges, clash)) {
            if (way.change.kind == ProblemChange::Kind::DropSpec)
                drops.push_back(std::move(way.change));
        }
        return drops;
    }

    void drop_one(const Edges& edges, const EdgeSet& clash) {
        for (auto& drop : drops_of(universe_, edges, clash)) {
            Plan plan;
            plan.steps.push_back({0, std::move(drop)});
            attempt(plan, [](const Universe&) {});
            if (fixes_.size() == kMostFixes) return;
        }
    }

    /// Gives up the last named spec of each clash until none is left.
    void drop_until_solved(const Edges& edges, const EdgeSet& clash) {
        Plan plan;
        auto drops = drops_of(universe_, edges, clash);
        for (std::size_t i = 0; i < kMostGivenUp && !drops.empty(); ++i) {
            auto drop = std::move(drops.front());
            drop.index = specs_left(plan.steps).at(drop.index);
            plan.steps.push_back({0, std::move(drop)});
            drops.clear();
            attempt(plan, [&](const Universe& universe) {
                const Edges left(universe);
                drops = drops_of(universe, left, clash_of(universe, left));
            });
        }
    }

    /// Gives up all but one: what is dropped may have been what let an installed package change.
    void keep_one() {
        const auto& request = universe_.problem().request;
        const auto count = request.specs.size() - request.implied;
        if (count < 2 || count > kMostGivenUp + 1) return;
        for (std::size_t kept = 0; kept < count && fixes_.empty(); ++kept) {
            Plan plan;
            for (std::size_t i = 0; i < count; ++i) {
                ProblemChange drop;
                drop.kind = ProblemChange::Kind::DropSpec;
                drop.index = i;
                drop.before = as_typed(request.specs[i]);
                if (i != kept) plan.steps.push_back({0, std::move(drop)});
            }
            attempt(plan, [](const Universe&) {});
        }
    }

    void attempt(const Plan& plan) {
        attempt(plan, [&](const Universe& universe) {
            const Edges edges(universe);
            extend(plan.steps, universe, edges, clash_of(universe, edges));
        });
    }

    /// Makes a fix of the plan, or calls `otherwise` with what has no solution with it either.
    template <typename Otherwise>
    void attempt(const Plan& plan, const Otherwise& otherwise) {
        try_out(plan, [&](const Universe& universe, const std::optional<Solution>& solution) {
            if (!solution) return otherwise(universe);
            // What changes nothing helps nobody who has another way.
            auto& found = is_as_installed(*solution) ? no_change_ : fixes_;
            auto fix = fix_of(plan, universe, *solution);
            if (!is_of_use(fix, *solution)) return;
            found.push_back(with_least_machine(plan, universe, std::move(fix), *solution));
        });
    }

    /// Hands on what is decided once the plan's changes are made, if that can be decided in time.
    template <typename Then>
    void try_out(const Plan& plan, const Then& then) const {
        if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) return;
        std::vector<ProblemChange> changes;
        for (const auto& step : plan.steps) changes.push_back(step.change);
        auto problem = with_changes(universe_.problem(), changes);
        if (!problem) return;
        problem->deadline = deadline_;
        const auto universe = Universe::collect(*problem);
        if (!universe) return;
        const auto decided = decide_(*universe);
        if (!decided) return;
        if (!decided->unsolved) return then(*universe, decided->solution);
        const auto unsolved = Universe::collect(*decided->unsolved);
        if (unsolved) then(*unsolved, decided->solution);
    }

    /// The newest machine that anything asks for brings builds for just that. The fix is for the
    /// least that brings the same versions for the same accelerators.
    Fix with_least_machine(Plan plan,
                           const Universe& universe,
                           Fix fix,
                           const Solution& solution) const {
        const auto step = std::ranges::find_if(plan.steps, [](const Suggestion& one) {
            return one.is_wide && one.change.kind == ProblemChange::Kind::SetMachine;
        });
        if (step == plan.steps.end()) return fix;
        const auto& told = fix.changes.at(static_cast<std::size_t>(step - plan.steps.begin()));
        const auto enough = Version::parse(told.version);
        if (told.is_any_version || !enough) return fix;
        auto values = values_asked(universe, *universe.find_name(told.name));
        values.erase(values.lower_bound(*enough), values.end());
        std::vector<Version> lesser(values.begin(), values.end());
        while (!lesser.empty()) {
            const auto middle = lesser.begin() + static_cast<std::ptrdiff_t>(lesser.size() / 2);
            step->change.version = middle->to_string();
            bool is_enough = false;
            try_out(plan, [&](const Universe& changed, const std::optional<Solution>& other) {
                if (!other) return;
                auto own = fix_of(plan, changed, *other);
                is_enough = is_of_use(own, *other) && gives_the_same(own, *other, fix, solution);
                if (is_enough) fix = std::move(own);
            });
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
        const bool is_of_machine = std::ranges::any_of(fix.changes, [](const auto& change) {
            return change.kind == ProblemChange::Kind::SetMachine;
        });
        return !is_of_machine || std::ranges::none_of(fix.gives, [&](const auto& package) {
            return solution.find_not_running(package.name) != nullptr;
        });
    }

    std::string remark_on(const Universe& changed,
                          const PackageRecord& record,
                          const Solution& solution,
                          bool is_told_of) const {
        if (solution.find_not_running(record.name) != nullptr) return "does not run here";
        const auto of = accelerator_of(record);
        if (!gives_up_gpu(changed, record) && !is_for_another_than_named(record, of) &&
            !(is_told_of && is_for_another_than_asked(record, of)))
            return "";
        return fmt::format("{} build", compute_platform(of.accelerator));
    }

    /// Only where this very version has builds for the GPU: those of another version would not come
    /// anyway.
    std::string remark_on_dependency(const Universe& changed, const PackageRecord& record) const {
        const auto version = version_of(record);
        if (!version || !gives_up_gpu(changed, record, &*version)) return "";
        return fmt::format("{} build", compute_platform(Accelerator::None));
    }

    /// What the user said has no builds where the change lets others come.
    bool is_for_another_than_asked(const PackageRecord& record, const AcceleratorOf& of) const {
        const auto id = universe_.find_name(record.name);
        const auto wanted = id ? universe_.preferred_accelerator(*id) : std::nullopt;
        return wanted && !of.evidence.empty() && of.accelerator != *wanted &&
               universe_.accelerators().is_bound(record.name);
    }

    /// Whether the request names a build for a GPU: "torch=*=cuda*", and another kind would come.
    bool is_for_another_than_named(const PackageRecord& record, const AcceleratorOf& of) const {
        const auto& specs = universe_.problem().request.specs;
        return !of.evidence.empty() && std::ranges::any_of(specs, [&](const MatchSpec& spec) {
            if (spec.name != record.name || !spec.build) return false;
            const auto named = accelerator_of_build(spec.build->text());
            return named && *named != Accelerator::None && *named != of.accelerator;
        });
    }

    /// Whether a build for none would come where there is a GPU, and are builds for it, which are
    /// preferred as long as nothing is changed, be it that the change asks for just that.
    /// With `version`, only builds of that version count.
    bool gives_up_gpu(const Universe& changed,
                      const PackageRecord& record,
                      const Version* version = nullptr) const {
        const auto id = universe_.find_name(record.name);
        const auto wanted = id ? universe_.preferred_accelerator(*id) : std::nullopt;
        if (!wanted || !has_vendor(universe_.problem().virtual_packages, *wanted) ||
            accelerator_of(record).accelerator != Accelerator::None)
            return false;
        const auto has_wanted = [&](const Universe& universe) {
            const auto own = universe.find_name(record.name);
            if (!own) return false;
            const auto& name = universe.names()[*own];
            for (auto one = name.begin; one < name.end; ++one) {
                const auto& candidate = universe.candidates()[one];
                if (candidate.accelerator == *wanted &&
                    (version == nullptr || universe.version(candidate.version) == *version))
                    return true;
            }
            return false;
        };
        return has_wanted(universe_) || has_wanted(changed);
    }

    bool is_as_installed(const Solution& solution) const {
        const auto& installed = universe_.problem().request.installed;
        return solution.records.size() == installed.size() &&
               std::all_of(installed.begin(), installed.end(), [&](const auto& record) {
                   return std::any_of(
                       solution.records.begin(), solution.records.end(), [&](const auto& other) {
                           return other.name == record.name && other.version == record.version &&
                                  other.build == record.build && other.channel == record.channel;
                       });
               });
    }

    static EdgeSet clash_of(const Universe& universe, const Edges& edges) {
        const auto ranks = rank_candidates(universe);
        const Parts parts(universe, edges, ranks, universe.problem().deadline);
        return minimal_clash(edges, parts).edges;
    }

    Fix fix_of(const Plan& plan, const Universe& universe, const Solution& solution) const {
        Fix fix;
        auto concerned = concerned_;
        std::set<std::size_t> replaced;
        for (const auto& step : plan.steps) {
            fix.changes.push_back(step.is_wide ? narrowed(step.change, solution) : step.change);
            if (step.change.kind == ProblemChange::Kind::DropSpec) {
                concerned.erase(step.change.index);
            } else if (step.change.kind == ProblemChange::Kind::ReplaceSpec) {
                concerned.insert(step.change.index);
            }
        }
        const auto& problem = universe_.problem();
        std::set<std::string> freed;
        for (const auto& change : fix.changes) {
            if (change.kind == ProblemChange::Kind::SetAccelerator) freed.insert(change.name);
        }
        auto names = pinned_;
        names.insert(freed.begin(), freed.end());
        for (const auto index : concerned) {
            auto name = problem.request.specs[index].name;
            for (const auto& change : fix.changes) {
                if (change.kind != ProblemChange::Kind::ReplaceSpec || change.index != index)
                    continue;
                if (const auto asked = AskedSpec::parse(change.spec)) name = asked->spec.name;
            }
            names.insert(std::move(name));
        }
        for (const auto& record : solution.records) {
            const bool was_hidden = is_hidden(record);
            const bool is_concerned = names.contains(record.name) || was_hidden;
            const auto id = universe_.find_name(record.name);
            const bool is_asked = id && universe_.is_requested(*id);
            // That something else that is asked for pays for it is told, too, and that a dependency
            // no longer is for the GPU of the machine.
            auto remark =
                is_concerned || is_asked
                    ? remark_on(universe, record, solution, is_asked || freed.contains(record.name))
                    : remark_on_dependency(universe, record);
            if (!is_concerned && remark.empty()) continue;
            fix.gives.push_back({record.name,
                                 record.version,
                                 record.build,
                                 was_hidden ? channel_title(problem, record.channel) : "",
                                 std::move(remark)});
        }
        std::sort(fix.gives.begin(), fix.gives.end(), [](const auto& a, const auto& b) {
            return a.name < b.name;
        });
        return fix;
    }

    /// Whether strict priority kept it away.
    bool is_hidden(const PackageRecord& record) const {
        const auto name = universe_.find_name(record.name);
        if (!name) return false;
        const auto& left_out = universe_.names()[*name].left_out;
        return std::any_of(left_out.begin(), left_out.end(), [&](const LeftOut& out) {
            return out.why == LeftOut::Why::Hidden &&
                   out.record.index->source().channel == record.channel;
        });
    }

    const Universe& universe_;
    const Decide& decide_;
    Deadline deadline_;
    std::set<std::size_t> concerned_;  ///< of the request's specs, those in the clash
    std::set<std::string> pinned_;     ///< names of the constraints in it
    std::vector<Plan> open_;
    std::set<std::set<std::string>> tried_;
    std::vector<Fix> fixes_;
    std::vector<Fix> no_change_;  ///< with which all stays as it is installed
    std::size_t order_ = 0;
    std::size_t most_changes_ = kMostChanges;
};

}  // namespace

std::vector<Fix> find_fixes(const Universe& universe,
                            const Edges& edges,
                            const std::vector<EdgeSet>& clashes,
                            const Decide& decide,
                            Deadline deadline) {
    return Fixing(universe, decide, deadline).run(edges, clashes);
}

}  // namespace gpkg::solver
