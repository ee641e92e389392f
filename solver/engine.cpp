#include "solver/engine.hpp"

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <fmt/format.h>
#include <unordered_map>

extern "C" {
// `requires` is a keyword of C++20; this spelling asks libsolv's headers to avoid it.
#define LIBSOLV_SOLVABLE_PREPEND_DEP  // NOLINT(readability-identifier-naming)
#include <solv/evr.h>
#include <solv/pool.h>
#include <solv/problems.h>
#include <solv/queue.h>
#include <solv/repo.h>
#include <solv/solver.h>
}

#if defined(__SANITIZE_ADDRESS__)
#define GPKG_FINDS_LEAKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPKG_FINDS_LEAKS 1
#endif
#endif
#ifdef GPKG_FINDS_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace gpkg::solver {
namespace {

struct FreePool {
    void operator()(Pool* pool) const { pool_free(pool); }
};
struct FreeSolver {
    void operator()(Solver* solver) const { solver_free(solver); }
};

using IdPair = std::pair<Id, Id>;

class IdQueue {
public:
    IdQueue() { queue_init(&queue_); }
    ~IdQueue() { queue_free(&queue_); }
    IdQueue(const IdQueue&) = delete;
    IdQueue& operator=(const IdQueue&) = delete;
    void push(Id id) { queue_push(&queue_, id); }
    void push(Id how, Id what) { queue_push2(&queue_, how, what); }
    Queue* get() { return &queue_; }
    int size() const { return queue_.count; }
    Id operator[](int i) const { return queue_.elements[i]; }

private:
    Queue queue_{};
};

// ---- ending libsolv's search

/// libsolv has no way to end a search but to leave it from the callback for its messages: C++ code
/// is called nowhere else. Only frames of C lie between setjmp and longjmp. What libsolv's
/// functions allocated for themselves is lost, some KB; the solver and the pool can still be freed.
struct Watch {
    const Effort& effort;
    std::uint64_t conflicts = 0;
    bool is_stopped = false;
    std::jmp_buf out{};
};

/// A message for each decision, conflict and attempt to use fewer packages.
constexpr int kWatched = SOLV_DEBUG_ANALYZE | SOLV_DEBUG_POLICY | SOLV_DEBUG_SOLVER;

/// Messages cost time where rules are written out. So after one that is watched there are only
/// those of the propagation that follows, and after the first of these those that are watched.
extern "C" void watch_search(Pool* pool, void* data, int type, const char* /*text*/) {
    auto& watch = *static_cast<Watch*>(data);
    if ((type & SOLV_DEBUG_PROPAGATE) != 0) {
        pool->debugmask = kWatched;
        return;
    }
    pool->debugmask = SOLV_DEBUG_PROPAGATE;
    // That there is a conflict, and what is decided for it.
    constexpr std::uint64_t kMessages = 2;
    if ((type & SOLV_DEBUG_ANALYZE) != 0) ++watch.conflicts;
    watch.is_stopped = watch.effort.stop.stop_requested();
    if (watch.is_stopped || watch.conflicts / kMessages > watch.effort.conflicts ||
        watch.effort.is_late())
        std::longjmp(watch.out, 1);  // NOLINT(cert-err52-cpp)
}

enum class Ended { Solved, Unsolvable, Left };

/// Nothing else is in the function that libsolv's is left for.
Ended run_solver(Solver* solver, Queue* job, Watch& watch) {
    if (setjmp(watch.out) != 0) return Ended::Left;  // NOLINT(cert-err52-cpp)
    return solver_solve(solver, job) == 0 ? Ended::Solved : Ended::Unsolvable;
}

/// Whether there is a solution.
bool is_solved(Solver* solver, Queue* job, Effort& effort) {
    Watch watch{effort};
#ifdef GPKG_FINDS_LEAKS
    const __lsan::ScopedDisabler leaves_some;
#endif
    auto* pool = solver->pool;
    pool_setdebugcallback(pool, watch_search, &watch);
    pool->debugmask = kWatched;
    const auto ended = run_solver(solver, job, watch);
    pool->debugmask = 0;
    pool_setdebugcallback(pool, nullptr, nullptr);
    effort.conflicts -= std::min(effort.conflicts, watch.conflicts / 2);
    if (ended != Ended::Left) return ended == Ended::Solved;
    if (watch.is_stopped) throw Stopped{};
    throw GaveUp{};
}

}  // namespace

struct Engine::State {
    const Universe& universe;
    const Live& live;
    std::unique_ptr<Pool, FreePool> pool;
    Repo* repo = nullptr;
    std::vector<Id> solvable_of;             ///< by candidate; 0 for the dead
    std::vector<CandidateId> candidate_of;   ///< by solvable; kNone for slots
    std::vector<Id> requirement_of;          ///< by spec; 0 where nothing uses it
    std::vector<Id> complement_of;           ///< by spec
    std::vector<std::vector<Id>> extras_of;  ///< by spec: for each of its extras; 0 where no use
    std::vector<Id> holds;  ///< by condition: the solvable; 0 where nothing uses it
    std::vector<Id> fails;  ///< by condition
    std::vector<std::pair<Id, IdPair>> either_of;  ///< keys that one of two solvables provides
    std::optional<Scope> scope;
    Conflict failure;

    State(const Universe& from, const Live& in_play, std::optional<Scope> within)
        : universe(from), live(in_play), scope(std::move(within)) {}

    bool counts(CandidateId id, SpecId spec) const {
        const auto& asked = universe.specs()[spec];
        if (universe.name_of(asked).is_virtual) return false;
        return is_in_scope(id, spec);
    }

    bool is_in_scope(CandidateId id, SpecId spec) const {
        return !scope || scope->counts(universe.candidates()[id].name, spec);
    }

    /// The same of a conditional dependency: one on the machine says that the condition may not
    /// hold.
    bool counts_conditional(CandidateId id, SpecId spec) const {
        const auto& asked = universe.specs()[spec];
        if (!universe.name_of(asked).is_virtual) return counts(id, spec);
        if (!is_in_scope(id, spec)) return false;
        if (scope) return scope->is_unmet(spec);
        return std::none_of(
            asked.matches.begin(), asked.matches.end(), [&](auto match) { return live[match]; });
    }

    Id add_solvable(const std::string& name, std::uint32_t rank, CandidateId candidate) {
        const Id id = repo_add_solvable(repo);
        Solvable* solvable = pool_id2solvable(pool.get(), id);
        solvable->name = pool_str2id(pool.get(), name.c_str(), 1);
        // libsolv prefers the highest EVR, rank 0 is the best.
        solvable->evr = pool_str2id(pool.get(), fmt::format("{}", kNone - rank).c_str(), 1);
        solvable->arch = ARCH_NOARCH;
        candidate_of.resize(static_cast<std::size_t>(id) + 1, kNone);
        candidate_of[static_cast<std::size_t>(id)] = candidate;
        return id;
    }

    /// An Id that no name or version has; its providers are set once all solvables are there.
    Id fresh_id(std::string_view kind, std::uint32_t number) const {
        return pool_str2id(pool.get(), fmt::format("{}#{}", kind, number).c_str(), 1);
    }

    bool is_chosen_from(CandidateId id) const {
        return live[id] && !universe.name_of(id).is_virtual;
    }

    /// Before the candidates: libsolv tries what was named first, and a condition that need not
    /// hold should not.
    void add_conditions() {
        for (CandidateId id = 0; id < universe.candidates().size(); ++id) {
            if (!is_chosen_from(id)) continue;
            for (const auto spec : universe.candidates()[id].conditional) {
                if (counts_conditional(id, spec)) use_condition(universe.specs()[spec].when);
            }
        }
        for (ConditionId id = 0; id < holds.size(); ++id) {
            if (fails[id] != 0) conflict(holds[id], name_of(fails[id]));
        }
    }

    void use_condition(ConditionId whole) {
        const auto& conditions = universe.conditions();
        const auto add = [&](std::vector<Id>& to, std::string_view kind, ConditionId id) {
            if (to[id] == 0) to[id] = add_named(fmt::format("{}#{}", kind, id));
        };
        add(fails, "fails", whole);
        for (const auto id : conditions.parts_of(whole)) {
            add(holds, "holds", id);
            if (conditions[id].kind == ConditionNode::Kind::And)
                add(fails, "fails", conditions[id].right);
        }
    }

    /// What follows when a condition holds, and when a candidate is there.
    void add_consequences() {
        const auto& conditions = universe.conditions();
        for (ConditionId id = 0; id < conditions.size(); ++id) {
            if (holds[id] == 0) continue;
            const auto& node = conditions[id];
            const auto whole = name_of(holds[id]);
            if (node.kind == ConditionNode::Kind::Leaf) {
                for (const auto match : universe.specs()[node.spec].matches) {
                    if (solvable_of[match] != 0) require(solvable_of[match], whole);
                }
            } else if (node.kind == ConditionNode::Kind::Or) {
                require(holds[node.left], whole);
                require(holds[node.right], whole);
            } else if (node.kind == ConditionNode::Kind::And) {
                const auto either = fresh_id("and", id);
                either_of.emplace_back(either, IdPair{fails[node.right], holds[id]});
                require(holds[node.left], either);
            }
        }
    }

    void add_candidates(const std::vector<std::uint32_t>& ranks) {
        for (CandidateId id = 0; id < universe.candidates().size(); ++id) {
            const auto& name = universe.name_of(id);
            if (is_chosen_from(id)) solvable_of[id] = add_solvable(name.text, ranks[id], id);
        }
    }

    void add_dependencies() {
        for (CandidateId id = 0; id < universe.candidates().size(); ++id) {
            if (solvable_of[id] == 0) continue;
            for (const auto spec : universe.candidates()[id].depends) {
                if (counts(id, spec)) depend(id, spec);
            }
            for (const auto spec : universe.candidates()[id].conditional) {
                if (counts_conditional(id, spec)) depend(id, spec);
            }
            for (const auto spec : universe.candidates()[id].constrains) {
                if (!counts(id, spec)) continue;
                auto& complement = complement_of[spec];
                if (complement == 0) complement = fresh_id("not", spec);
                conflict(solvable_of[id], complement);
            }
        }
    }

    void depend(CandidateId id, SpecId spec) {
        auto& requirement = requirement_of[spec];
        if (requirement == 0) requirement = fresh_id("spec", spec);
        require(solvable_of[id], requirement);
        const auto& extras = universe.specs()[spec].extras;
        auto& keys = extras_of[spec];
        keys.resize(extras.size());
        for (std::size_t i = 0; i < extras.size(); ++i) {
            if (holds[extras[i]] == 0) continue;
            if (keys[i] == 0) keys[i] = fresh_id(fmt::format("extra#{}", i), spec);
            require(solvable_of[id], keys[i]);
        }
    }

    void add_slots() {
        for (NameId name = 0; name < universe.names().size(); ++name) {
            std::vector<CandidateId> members;
            for (auto id = universe.names()[name].begin; id < universe.names()[name].end; ++id) {
                if (solvable_of[id] != 0) members.push_back(id);
            }
            if (members.size() < 2) continue;
            const auto bits = static_cast<std::uint32_t>(std::bit_width(members.size() - 1));
            for (std::uint32_t bit = 0; bit < bits; ++bit) {
                const Id key = name_of(add_named(fmt::format("slot#{}#{}", name, bit)));
                for (std::uint32_t i = 0; i < members.size(); ++i) {
                    if ((i >> bit & 1U) != 0) {
                        require(solvable_of[members[i]], key);
                    } else {
                        conflict(solvable_of[members[i]], key);
                    }
                }
            }
        }
    }

    /// A solvable that stands for no candidate, and which its name means.
    Id add_named(const std::string& name) {
        const Id id = add_solvable(name, 0, kNone);
        Solvable* solvable = pool_id2solvable(pool.get(), id);
        solvable->dep_provides = repo_addid_dep(repo, solvable->dep_provides, solvable->name, 0);
        return id;
    }

    Id name_of(Id solvable) const { return pool_id2solvable(pool.get(), solvable)->name; }

    void require(Id from, Id key) const {
        Solvable* solvable = pool_id2solvable(pool.get(), from);
        solvable->dep_requires = repo_addid_dep(repo, solvable->dep_requires, key, 0);
    }

    void conflict(Id from, Id key) const {
        Solvable* solvable = pool_id2solvable(pool.get(), from);
        solvable->dep_conflicts = repo_addid_dep(repo, solvable->dep_conflicts, key, 0);
    }

    void set_providers() {
        pool_createwhatprovides(pool.get());
        for (SpecId spec = 0; spec < universe.specs().size(); ++spec) {
            const auto& matches = universe.specs()[spec].matches;
            if (requirement_of[spec] != 0) {
                const auto when = universe.specs()[spec].when;
                const Id otherwise = when == kAlways ? 0 : fails[when];
                set_providers(requirement_of[spec], matches, otherwise);
                for (std::size_t i = 0; i < extras_of[spec].size(); ++i) {
                    if (extras_of[spec][i] != 0)
                        set_providers(extras_of[spec][i],
                                      {},
                                      holds[universe.specs()[spec].extras[i]],
                                      otherwise);
                }
            }
            if (complement_of[spec] == 0) continue;
            const auto& name = universe.name_of(universe.specs()[spec]);
            std::vector<CandidateId> others;
            for (auto id = name.begin; id < name.end; ++id) {
                if (!std::binary_search(matches.begin(), matches.end(), id)) others.push_back(id);
            }
            set_providers(complement_of[spec], others);
        }
        for (const auto& [key, pair] : either_of) set_providers(key, {}, pair.first, pair.second);
    }

    void set_providers(Id key, const std::vector<CandidateId>& members, Id more = 0, Id other = 0) {
        pool_set_whatprovides(pool.get(), key, provider_list(members, more, other));
    }

    Id provider_list(const std::vector<CandidateId>& members, Id more = 0, Id other = 0) const {
        IdQueue queue;
        if (more != 0) queue.push(more);
        if (other != 0) queue.push(other);
        for (const auto id : members) {
            if (solvable_of[id] != 0) queue.push(solvable_of[id]);
        }
        return pool_queuetowhatprovides(pool.get(), queue.get());
    }

    /// Of several problems that libsolv finds, the one with the fewest rules.
    void note_conflict(Solver* solver, const std::vector<std::size_t>& goal_of_job) {
        IdQueue rules;
        for (Id problem = 1; problem <= static_cast<Id>(solver_problem_count(solver)); ++problem) {
            IdQueue found;
            solver_findallproblemrules(solver, problem, found.get());
            if (problem > 1 && found.size() >= rules.size()) continue;
            std::swap(*found.get(), *rules.get());
        }
        failure = {};
        std::unordered_map<Id, SpecId> spec_of;
        for (SpecId spec = 0; spec < requirement_of.size(); ++spec) {
            if (requirement_of[spec] != 0) spec_of[requirement_of[spec]] = spec;
            if (complement_of[spec] != 0) spec_of[complement_of[spec]] = spec;
            for (const auto key : extras_of[spec]) spec_of[key] = spec;
        }
        for (int i = 0; i < rules.size(); ++i) {
            if (const int job = solver_rule2jobidx(solver, rules[i]); job > 0) {
                failure.goals.push_back(goal_of_job[static_cast<std::size_t>(job - 1) / 2]);
                continue;
            }
            Id from = 0;
            Id to = 0;
            Id key = 0;
            solver_ruleinfo(solver, rules[i], &from, &to, &key);
            const auto spec = spec_of.find(key);
            if (from > 0 && key != 0 && spec != spec_of.end())
                failure.asks.emplace_back(candidate_of[static_cast<std::size_t>(from)],
                                          spec->second);
        }
    }
};

Engine::Engine(const Universe& universe,
               const Live& live,
               const std::vector<std::uint32_t>& ranks,
               std::optional<Scope> scope)
    : state_(std::make_unique<State>(universe, live, std::move(scope))) {
    auto& state = *state_;
    state.pool.reset(pool_create());
    state.repo = repo_create(state.pool.get(), "channels");
    state.solvable_of.resize(universe.candidates().size());
    state.requirement_of.resize(universe.specs().size());
    state.complement_of.resize(universe.specs().size());
    state.extras_of.resize(universe.specs().size());
    state.holds.resize(universe.conditions().size());
    state.fails.resize(universe.conditions().size());
    state.add_conditions();
    state.add_candidates(ranks);
    state.add_dependencies();
    state.add_consequences();
    state.add_slots();
    repo_internalize(state.repo);
    state.set_providers();
}

Engine::~Engine() = default;

const Conflict& Engine::conflict() const { return state_->failure; }

std::optional<std::vector<CandidateId>> Engine::solve(const std::vector<Goal>& goals,
                                                      Effort& effort) {
    if (effort.stop.stop_requested()) throw Stopped{};
    if (effort.is_late()) throw GaveUp{};
    auto& state = *state_;
    IdQueue job;
    job.push(SOLVER_MULTIVERSION | SOLVER_SOLVABLE_ALL, 0);
    std::vector<std::size_t> goal_of_job{goals.size()};
    for (const auto& goal : goals) {
        const bool possible = std::any_of(goal.any_of.begin(), goal.any_of.end(), [&](auto id) {
            return state.solvable_of[id] != 0;
        });
        if (!possible) {
            state.failure = {{static_cast<std::size_t>(&goal - goals.data())}, {}};
            return std::nullopt;
        }
        job.push(SOLVER_INSTALL | SOLVER_SOLVABLE_ONE_OF, state.provider_list(goal.any_of));
        goal_of_job.push_back(static_cast<std::size_t>(&goal - goals.data()));
        for (const auto extra : goal.extras) {
            if (state.holds[extra] == 0) continue;
            job.push(SOLVER_INSTALL | SOLVER_SOLVABLE, state.holds[extra]);
            goal_of_job.push_back(static_cast<std::size_t>(&goal - goals.data()));
        }
    }
    const std::unique_ptr<Solver, FreeSolver> solver(solver_create(state.pool.get()));
    solver_set_flag(solver.get(), SOLVER_FLAG_IGNORE_RECOMMENDED, 1);
    if (!is_solved(solver.get(), job.get(), effort)) {
        state.note_conflict(solver.get(), goal_of_job);
        return std::nullopt;
    }

    IdQueue decisions;
    solver_get_decisionqueue(solver.get(), decisions.get());
    std::vector<CandidateId> chosen;
    for (int i = 0; i < decisions.size(); ++i) {
        const Id id = decisions[i];
        if (id <= 0 || static_cast<std::size_t>(id) >= state.candidate_of.size()) continue;
        if (state.candidate_of[static_cast<std::size_t>(id)] != kNone)
            chosen.push_back(state.candidate_of[static_cast<std::size_t>(id)]);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

}  // namespace gpkg::solver
