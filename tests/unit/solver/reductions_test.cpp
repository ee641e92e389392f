// Small random problems, each answered four ways: by the solver, by improving the worst of answers,
// by the engine without reductions, and by trying everything. All four have to agree on whether
// there is an answer and on each record of it.

#include "solver/reductions.hpp"

#include "solver/engine.hpp"
#include "solver/improve.hpp"
#include "solver/preference.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/solver/random_problems.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

using namespace gpkg;
using namespace gpkg::solver;
using namespace gpkg::tests;

namespace reductions_test {
namespace {

Effort unlimited() { return {{}, std::numeric_limits<std::uint64_t>::max()}; }

std::string text(const std::optional<Exhaustive::Choice>& choice) {
    if (!choice) return "none";
    std::string lines;
    for (const auto& [name, record] : *choice) {
        if (!name.starts_with("__")) lines += line(record) + "\n";
    }
    return lines;
}

std::string text(const Solution& solution) {
    std::map<std::string, std::string> sorted;
    for (const auto& record : solution.records) sorted[record.name] += line(record) + "\n";
    std::string lines;
    for (const auto& [name, one] : sorted) lines += one;
    return lines;
}

std::string solver_answer(const Problem& problem) {
    const auto outcome = solver::solve(problem);
    REQUIRE(outcome);
    if (const auto* solution = std::get_if<Solution>(&*outcome)) return text(*solution);
    CHECK_FALSE(std::get<Explanation>(*outcome).clashes.empty());
    return "none";
}

/// The installed names that an answer has, the names in front of its lines being single letters.
std::vector<std::string> kept_in(const Problem& problem, const std::string& answer) {
    auto kept = problem.request.keep;
    std::erase_if(
        kept, [&](const auto& name) { return answer.find("/" + name + "-") == std::string::npos; });
    return kept;
}

bool is_needed_by_installed(const Problem& problem, const std::string& name) {
    const auto& installed = problem.request.installed;
    return std::any_of(installed.begin(), installed.end(), [&](const auto& record) {
        return std::any_of(record.depends.begin(), record.depends.end(), [&](const auto& text) {
            const auto spec = MatchSpec::parse(text);
            return spec && spec->name == name;
        });
    });
}

/// Whether each line of the one is among those of the other.
bool has_all_of(const std::string& more, const std::string& lines) {
    std::size_t begin = 0;
    for (auto end = lines.find('\n'); end != std::string::npos; end = lines.find('\n', begin)) {
        if (more.find(lines.substr(begin, end + 1 - begin)) == std::string::npos) return false;
        begin = end + 1;
    }
    return true;
}

/// Which installed names go when not all can stay is not promised, only that none goes needlessly:
/// what something installed brought there goes only where it would cost what is asked for a better
/// record.
void check_nothing_is_lost(const Problem& problem,
                           Exhaustive& exhaustive,
                           const std::string& answer) {
    const auto kept = kept_in(problem, answer);
    for (const auto& name : problem.request.keep) {
        if (std::count(kept.begin(), kept.end(), name) > 0) continue;
        auto more = kept;
        more.push_back(name);
        INFO("could have kept " << name);
        if (is_needed_by_installed(problem, name)) {
            const auto with_it = exhaustive.best(more);
            REQUIRE_FALSE((with_it && has_all_of(text(with_it), answer)));
        } else {
            REQUIRE_FALSE(exhaustive.allows(more));
        }
    }
}

/// What the request wants, with these installed names; nothing where the machine rules it out.
std::optional<std::vector<Goal>> goals_of(const Universe& universe,
                                          const std::vector<std::string>& kept) {
    std::vector<Goal> goals;
    for (const auto id : universe.requested()) {
        const auto& spec = universe.specs()[id];
        if (!universe.name_of(spec).is_virtual) {
            goals.push_back({spec.matches, spec.extras});
        } else if (spec.matches.empty()) {
            return std::nullopt;
        }
    }
    for (const auto& text : kept) {
        const auto& name = universe.names()[universe.find_name(text).value()];
        std::vector<CandidateId> all(name.end - name.begin);
        std::iota(all.begin(), all.end(), name.begin);
        goals.push_back({std::move(all)});
    }
    return goals;
}

/// Improved, not from the solver's good first answer, but from a bad one.
std::string answer_from_bad(const Problem& problem, const std::vector<std::string>& kept) {
    const auto universe = Universe::collect(problem).value();
    const auto ranking = rank_candidates(universe);
    const auto& ranks = ranking.ranks;
    const auto goals = goals_of(universe, kept);
    if (!goals) return "none";
    auto reversed = ranks;
    for (auto& rank : reversed) rank = static_cast<std::uint32_t>(ranks.size()) - rank;
    const auto open = reduce(universe, universe.requested(), universe.constraints(), ranks);
    if (!open) return "none";
    const auto bad = Search(universe, reversed, unlimited()).find(open->live(), *goals);
    if (!bad) return "none";
    Search search(universe, ranks, unlimited());
    Solution solution;
    for (const auto id : improve(universe, *open, ranking, search, *goals, *bad).packages)
        solution.records.push_back(universe.candidates()[id].record().value());
    return text(solution);
}

/// Of the whole universe: nothing is taken out that has a better twin.
std::string unreduced_answer(const Problem& problem, const std::vector<std::string>& kept) {
    const auto universe = Universe::collect(problem).value();
    const auto ranking = rank_candidates(universe);
    const auto goals = goals_of(universe, kept);
    if (!goals) return "none";
    Narrowing open(universe);
    for (const auto spec : universe.requested()) open.restrict_to(spec);
    for (const auto spec : universe.constraints()) open.restrict_to(spec);
    Engine engine(universe, open.live(), ranking.ranks);
    auto effort = unlimited();
    const auto first = engine.solve(*goals, effort);
    if (!first) return "none";
    Search search(universe, ranking.ranks, unlimited());
    Solution solution;
    for (const auto id : improve(universe, open, ranking, search, *goals, *first).packages)
        solution.records.push_back(universe.candidates()[id].record().value());
    return text(solution);
}

/// How many problems have what could make a reduction wrong, and in how many answers what repodata
/// v3 adds counts.
class Shares {
public:
    void count(const Problem& problem, const std::optional<Exhaustive::Choice>& answer) {
        std::set<std::string> has;
        has_in_records(problem, has);
        has_in_request(problem.request, has);
        if (answer) has_in_answer(problem, *answer, has);
        has.insert(answer ? "an answer" : "no answer");
        for (const auto& one : has) ++shares_[one];
    }

    /// A generator of which nearly all problems are alike would prove little.
    void check(std::uint32_t of) const {
        static constexpr std::pair<const char*, double> kLeast[] = {
            {"an answer", 0.4},
            {"no answer", 0.4},
            {"constrains", 0.2},
            {"track_features", 0.2},
            {"two channels", 0.2},
            {"pins", 0.2},
            {"installed", 0.2},
            {"no dependencies", 0.05},
            {"conditions", 0.2},
            {"extras", 0.2},
            {"requested extras", 0.2},
            {"a condition that holds", 0.03},
            {"a condition that does not hold", 0.03},
            {"an extra that applies", 0.03},
        };
        for (const auto& [what, least] : kLeast) {
            const auto found = shares_.find(what);
            const auto share =
                found == shares_.end() ? 0.0 : found->second / static_cast<double>(of);
            INFO(what << ": " << share);
            CHECK(share >= least);
        }
    }

private:
    static void has_in_records(const Problem& problem, std::set<std::string>& has) {
        const auto look = [&](const std::vector<std::string>& texts) {
            for (const auto& text : texts) {
                if (text.find("when=") != std::string::npos) has.insert("conditions");
                if (text.find("extras=") != std::string::npos) has.insert("extras");
            }
        };
        std::set<std::string> channels;
        for (const auto& index : problem.indexes) {
            for (const auto name : index->names()) {
                const auto found = index->find(name).value();
                for (const auto& row : found.rows()) {
                    const auto record = index->record(found, row).value();
                    channels.insert(record.channel);
                    look(record.depends);
                    for (const auto& [group, texts] : record.extra_depends) look(texts);
                    if (!record.constrains.empty()) has.insert("constrains");
                    if (!record.track_features.empty()) has.insert("track_features");
                }
            }
        }
        if (channels.size() > 1) has.insert("two channels");
    }

    static void has_in_request(const Request& request, std::set<std::string>& has) {
        if (!request.constraints.empty()) has.insert("pins");
        if (!request.installed.empty()) has.insert("installed");
        if (request.no_dependencies) has.insert("no dependencies");
        for (const auto& spec : request.specs) {
            if (!spec.extras.empty()) has.insert("requested extras");
        }
    }

    static void has_in_answer(const Problem& problem,
                              const Exhaustive::Choice& answer,
                              std::set<std::string>& has) {
        std::set<std::string> applying;
        for (const auto& [name, text] : Exhaustive(problem).applying(answer))
            applying.insert(name + text);
        for (const auto& [name, record] : answer) {
            for (const auto& text : record.depends) {
                if (text.find("when=") == std::string::npos) continue;
                has.insert(applying.contains(name + text) ? "a condition that holds"
                                                          : "a condition that does not hold");
            }
            for (const auto& [group, texts] : record.extra_depends) {
                for (const auto& text : texts) {
                    if (applying.contains(name + text)) has.insert("an extra that applies");
                }
            }
        }
    }

    std::map<std::string, std::uint32_t> shares_;
};

}  // namespace

TEST_CASE("reduced, unreduced and exhaustive answers are the same", "[solver]") {
    const auto count = problem_count();
    Shares shares;
    for (std::uint32_t seed = 0; seed < count; ++seed) {
        Dice dice(seed);
        const auto problem = random_problem(dice);
        INFO("seed " << seed << "\n" << describe(problem));
        const auto answer = solver_answer(problem);
        const auto kept = kept_in(problem, answer);
        Exhaustive exhaustive(problem);
        const auto expected = text(exhaustive.best(kept));
        REQUIRE(answer == expected);
        if (answer == "none") {
            REQUIRE_FALSE(exhaustive.allows({}));
        } else {
            check_nothing_is_lost(problem, exhaustive, answer);
        }
        REQUIRE(unreduced_answer(problem, kept) == expected);
        REQUIRE(answer_from_bad(problem, kept) == expected);
        shares.count(problem, exhaustive.best(kept));
    }
    if (test_effort() >= 1) shares.check(count);
}

}  // namespace reductions_test
