// Small random problems, each answered three ways: by the solver, by its engine without reductions,
// and by trying everything. All three have to agree on whether there is an answer and on each
// record of it.

#include "solver/reductions.hpp"

#include "libcore/index/repodata.hpp"
#include "solver/engine.hpp"
#include "solver/improve.hpp"
#include "solver/preference.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <random>

using namespace gpkg;
using namespace gpkg::solver;

namespace {

class Dice {
public:
    explicit Dice(std::uint32_t seed) : engine_(seed) {}
    /// 0 .. sides - 1, the same on every platform.
    std::uint32_t roll(std::uint32_t sides) {
        return static_cast<std::uint32_t>(engine_() % sides);
    }
    bool one_in(std::uint32_t sides) { return roll(sides) == 0; }
    std::mt19937& engine() { return engine_; }

private:
    std::mt19937 engine_;
};

constexpr std::uint32_t kNames = 6;

std::string name_text(std::uint32_t name) { return std::string(1, static_cast<char>('a' + name)); }

std::string random_spec(Dice& dice, std::uint32_t name) {
    static constexpr const char* kForms[] = {
        "{}", "{}", "{} >=2", "{} <3", "{} 1.*", "{} ==2", "{} * b1", "{} 3 b0", "{} !=2"};
    return fmt::format(fmt::runtime(kForms[dice.roll(std::size(kForms))]), name_text(name));
}

/// A record as repodata has it, `channel` 0 or 1.
struct Package {
    std::string json;
    std::uint32_t channel = 0;
};

std::string quoted(const std::vector<std::string>& texts) {
    return texts.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(texts, "\",\""));
}

Package random_package(Dice& dice, std::uint32_t name) {
    std::vector<std::string> depends;
    std::vector<std::string> constrains;
    for (auto count = dice.roll(4); count > 0; --count) {
        const auto other = dice.roll(kNames);
        if (other != name) depends.push_back(random_spec(dice, other));
    }
    if (dice.one_in(3)) constrains.push_back(random_spec(dice, dice.roll(kNames)));
    if (dice.one_in(8)) depends.emplace_back(dice.one_in(2) ? "__cuda" : "__cuda >=12");
    if (dice.one_in(8)) constrains.emplace_back("__cuda >=12");
    // Some names have no build 0, so that a request for it fails.
    const auto build = dice.roll(2);
    const auto version = 1 + dice.roll(3);
    const auto text = name_text(name);
    Package package;
    package.channel = dice.one_in(4) ? 1 : 0;
    package.json = fmt::format(
        R"("{0}-{1}-b{2}.conda":{{"name":"{0}","version":"{1}","build":"b{2}","build_number":{3},)"
        R"("depends":{4},"constrains":{5},"timestamp":{6}{7}}})",
        text,
        version,
        build,
        dice.one_in(3) ? 0 : build,
        quoted(depends),
        quoted(constrains),
        1700000000000 + dice.roll(3),
        dice.one_in(8) ? R"(,"track_features":"x")" : "");
    return package;
}

std::shared_ptr<const ChannelIndex> index_of(const std::vector<Package>& packages,
                                             std::uint32_t channel) {
    std::map<std::string, std::string> by_file;  // the first of two files of one name
    std::vector<std::string> in_order;
    for (const auto& package : packages) {
        const auto file = package.json.substr(0, package.json.find(':'));
        if (package.channel == channel && by_file.try_emplace(file, package.json).second)
            in_order.push_back(package.json);
    }
    const auto base = fmt::format("https://host/channel{}", channel);
    auto index =
        read_repodata(fmt::format("{{\"packages.conda\":{{{}}}}}", fmt::join(in_order, ",")),
                      {base, "linux-64", base + "/linux-64/repodata.json"});
    REQUIRE(index);
    return std::make_shared<const ChannelIndex>(*std::move(index));
}

/// Some records of the channels and one that no channel has, as if an earlier request had put them
/// there; they need not fit together.
void add_installed(Dice& dice, Problem& problem) {
    auto& request = problem.request;
    const auto add = [&](PackageRecord record) {
        if (std::count(request.keep.begin(), request.keep.end(), record.name) > 0) return;
        if (dice.one_in(4)) request.update.push_back(record.name);
        request.keep.push_back(record.name);
        request.installed.push_back(std::move(record));
    };
    for (auto count = 1 + dice.roll(3); count > 0; --count) {
        const auto& index = *problem.indexes[dice.one_in(4) ? 1 : 0];
        const auto found = index.find(name_text(dice.roll(kNames))).value();
        const auto rows = found.rows();
        if (rows.empty()) continue;
        const auto& row = rows[dice.roll(static_cast<std::uint32_t>(rows.size()))];
        add(index.record(found, row).value());
    }
    if (dice.one_in(4)) {
        PackageRecord gone;
        gone.name = name_text(dice.roll(kNames));
        gone.version = "2";
        gone.build = "gone";
        gone.channel = "https://host/gone";
        gone.fn = gone.name + "-2-gone.conda";
        gone.depends = {random_spec(dice, dice.roll(kNames))};
        if (dice.one_in(2)) gone.depends.emplace_back("__cuda >=12");
        add(std::move(gone));
    }
    request.update_all = dice.one_in(8);
}

Problem random_problem(Dice& dice) {
    std::vector<Package> packages;
    for (std::uint32_t name = 0; name < kNames; ++name) {
        for (auto count = 1 + dice.roll(5); count > 0; --count)
            packages.push_back(random_package(dice, name));
    }
    Problem problem;
    problem.indexes = {index_of(packages, 0), index_of(packages, 1)};
    static constexpr ChannelPriority kPriorities[] = {
        ChannelPriority::Strict, ChannelPriority::Flexible, ChannelPriority::Disabled};
    problem.priority = kPriorities[dice.roll(3)];
    if (!dice.one_in(3)) {
        PackageRecord cuda;
        cuda.name = "__cuda";
        cuda.version = dice.one_in(2) ? "12.4" : "11.8";
        cuda.build = "0";
        problem.virtual_packages.push_back(std::move(cuda));
    }
    for (auto count = 1 + dice.roll(3); count > 0; --count)
        problem.request.specs.push_back(
            MatchSpec::parse(random_spec(dice, dice.roll(kNames))).value());
    if (dice.one_in(4))
        problem.request.constraints.push_back(
            {MatchSpec::parse(random_spec(dice, dice.roll(kNames))).value()});
    if (dice.one_in(20)) problem.request.specs.push_back(MatchSpec::parse("__cuda").value());
    if (dice.one_in(3)) add_installed(dice, problem);
    return problem;
}

/// Tries everything. Knows conda's rules from the records alone and takes only the ranks from the
/// solver.
class Exhaustive {
public:
    using Choice = std::map<std::string, PackageRecord>;

    explicit Exhaustive(const Problem& problem) : problem_(problem) {
        const auto universe = Universe::collect(problem);
        REQUIRE(universe);
        const auto ranks = rank_candidates(*universe);
        for (CandidateId id = 0; id < universe->candidates().size(); ++id) {
            const auto record = universe->candidates()[id].record().value();
            by_rank_[record.name].emplace(ranks[id], record);
        }
        for (const auto& record : problem.virtual_packages) machine_[record.name] = record;
    }

    /// Is there an environment with these names in it, beside what is requested?
    bool allows(const std::vector<std::string>& kept) {
        kept_ = kept;
        return completes(machine_);
    }

    /// What the documentation of solve() promises, one name after the other, with these names in
    /// it.
    std::optional<Choice> best(const std::vector<std::string>& kept) {
        if (!allows(kept)) return std::nullopt;
        Choice settled = machine_;
        std::deque<std::string> queue;
        for (const auto& spec : problem_.request.specs) queue.push_back(spec.name);
        queue.insert(queue.end(), kept_.begin(), kept_.end());
        for (; !queue.empty(); queue.pop_front()) {
            const auto& name = queue.front();
            if (settled.contains(name) || name.starts_with("__")) continue;
            for (const auto& [rank, record] : by_rank_[name]) {
                settled[name] = record;
                if (completes(settled)) break;
            }
            for (const auto& text : settled.at(name).depends) queue.push_back(spec(text).name);
        }
        return settled;
    }

private:
    const MatchSpec& spec(const std::string& text) {
        return specs_.try_emplace(text, MatchSpec::parse(text).value()).first->second;
    }

    /// The name of a dependency that nothing meets yet, "" when all are met; nothing where `choice`
    /// breaks a rule.
    std::optional<std::string> open_name(const Choice& choice) {
        std::string open;
        const auto need = [&](const MatchSpec& wanted) {
            const auto found = choice.find(wanted.name);
            if (found == choice.end()) {
                if (open.empty()) open = wanted.name;
                return true;
            }
            return wanted.matches(found->second);
        };
        const auto allow = [&](const MatchSpec& allowed) {
            const auto found = choice.find(allowed.name);
            return found == choice.end() || allowed.matches(found->second);
        };
        const auto& request = problem_.request;
        bool fine = std::all_of(request.specs.begin(), request.specs.end(), need) &&
                    std::all_of(request.constraints.begin(),
                                request.constraints.end(),
                                [&](const auto& constraint) { return allow(constraint.spec); });
        for (const auto& name : kept_) fine = fine && need(spec(name));
        for (const auto& [name, record] : choice) {
            const bool stays = is_installed(record);
            const auto asks = [&](const std::string& text) {
                return !stays || !text.starts_with("__");
            };
            for (const auto& text : record.depends)
                fine = fine && (!asks(text) || need(spec(text)));
            for (const auto& text : record.constrains)
                fine = fine && (!asks(text) || allow(spec(text)));
        }
        return fine ? std::optional(open) : std::nullopt;
    }

    bool is_installed(const PackageRecord& record) const {
        const auto& installed = problem_.request.installed;
        return std::any_of(installed.begin(), installed.end(), [&](const auto& one) {
            return one.channel == record.channel && one.fn == record.fn;
        });
    }

    bool completes(const Choice& choice) {
        const auto open = open_name(choice);
        if (!open) return false;
        if (open->empty()) return true;
        const auto& records = by_rank_[*open];
        return std::any_of(records.begin(), records.end(), [&](const auto& entry) {
            auto more = choice;
            more[*open] = entry.second;
            return completes(more);
        });
    }

    const Problem& problem_;
    std::map<std::string, std::map<std::uint32_t, PackageRecord>> by_rank_;
    std::map<std::string, MatchSpec> specs_;
    Choice machine_;
    std::vector<std::string> kept_;
};

std::string line(const PackageRecord& record) { return record.channel + "/" + record.fn; }

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
    CHECK_FALSE(std::get<Explanation>(*outcome).lines.empty());
    return "none";
}

/// The installed names that an answer has, the names in front of its lines being single letters.
std::vector<std::string> kept_in(const Problem& problem, const std::string& answer) {
    auto kept = problem.request.keep;
    std::erase_if(
        kept, [&](const auto& name) { return answer.find("/" + name + "-") == std::string::npos; });
    return kept;
}

/// Which installed names go when not all can stay is not promised, only that none goes needlessly.
void check_nothing_is_lost(const Problem& problem,
                           Exhaustive& exhaustive,
                           const std::string& answer) {
    const auto kept = kept_in(problem, answer);
    for (const auto& name : problem.request.keep) {
        if (std::count(kept.begin(), kept.end(), name) > 0) continue;
        auto more = kept;
        more.push_back(name);
        INFO("could have kept " << name);
        REQUIRE_FALSE(exhaustive.allows(more));
    }
}

/// Only what the machine decides is taken out, and what constrains itself away: neither is part of
/// what the engine is told.
Live all_but_unfit(const Universe& universe) {
    Live live(universe);
    const auto lacking = [&](SpecId id) {
        const auto& spec = universe.specs()[id];
        return universe.name_of(spec).is_virtual && spec.matches.empty();
    };
    const auto broken = [&](SpecId id) {
        const auto& name = universe.name_of(universe.specs()[id]);
        return name.begin != name.end && lacking(id);
    };
    for (CandidateId id = 0; id < universe.candidates().size(); ++id) {
        const auto& candidate = universe.candidates()[id];
        const auto excludes_itself = [&](SpecId spec) {
            const auto& matches = universe.specs()[spec].matches;
            return universe.specs()[spec].name == candidate.name &&
                   !std::binary_search(matches.begin(), matches.end(), id);
        };
        if (std::any_of(
                candidate.constrains.begin(), candidate.constrains.end(), excludes_itself) ||
            std::any_of(candidate.depends.begin(), candidate.depends.end(), lacking) ||
            std::any_of(candidate.constrains.begin(), candidate.constrains.end(), broken))
            live.remove(id);
    }
    return live;
}

/// The engine on the whole universe. Constraints are goals in reverse: what they do not match is
/// out.
std::string unreduced_answer(const Problem& problem, const std::vector<std::string>& kept) {
    const auto universe = Universe::collect(problem).value();
    const auto ranks = rank_candidates(universe);
    auto live = all_but_unfit(universe);
    for (const auto id : universe.constraints()) {
        const auto& spec = universe.specs()[id];
        const auto& name = universe.name_of(spec);
        for (auto other = name.begin; other < name.end; ++other) {
            if (!std::binary_search(spec.matches.begin(), spec.matches.end(), other))
                live.remove(other);
        }
    }
    std::vector<Goal> goals;
    for (const auto id : universe.requested()) {
        const auto& spec = universe.specs()[id];
        if (!universe.name_of(spec).is_virtual) {
            goals.push_back({spec.matches, false});
        } else if (spec.matches.empty()) {
            return "none";
        }
    }
    for (const auto& text : kept) {
        const auto& name = universe.names()[universe.find_name(text).value()];
        std::vector<CandidateId> all(name.end - name.begin);
        std::iota(all.begin(), all.end(), name.begin);
        goals.push_back({std::move(all), false});
    }
    Engine engine(universe, live, ranks);
    auto first = engine.solve(goals);
    if (!first) return "none";
    Solution solution;
    for (const auto id : improve(universe, live, ranks, engine, goals, *std::move(first)))
        solution.records.push_back(universe.candidates()[id].record().value());
    return text(solution);
}

/// The problem as a person reads it, for a failure.
std::string describe(const Problem& problem) {
    std::string lines;
    for (const auto& spec : problem.request.specs) lines += "request " + spec.to_string() + "\n";
    for (const auto& constraint : problem.request.constraints)
        lines += "constraint " + constraint.spec.to_string() + "\n";
    for (const auto& record : problem.virtual_packages) lines += record.distribution() + "\n";
    for (const auto& record : problem.request.installed)
        lines += fmt::format("installed {}: {}\n", line(record), fmt::join(record.depends, "; "));
    lines += fmt::format("update {}\n", fmt::join(problem.request.update, ", "));
    if (problem.request.update_all) lines += "update all\n";
    lines += fmt::format("priority {}\n", static_cast<int>(problem.priority));
    for (const auto& index : problem.indexes) {
        for (const auto name : index->names()) {
            const auto found = index->find(name).value();
            for (const auto& row : found.rows()) {
                const auto record = index->record(found, row).value();
                lines += fmt::format("{} #{}: {} | {} {}\n",
                                     line(record),
                                     record.build_number,
                                     fmt::join(record.depends, "; "),
                                     fmt::join(record.constrains, "; "),
                                     fmt::join(record.track_features, " "));
            }
        }
    }
    return lines;
}

/// GPKG_RANDOM_PROBLEMS asks for more than the few thousand of every run.
std::uint32_t problem_count() {
    const char* wanted = std::getenv("GPKG_RANDOM_PROBLEMS");
    return wanted == nullptr ? 4000 : static_cast<std::uint32_t>(std::stoul(wanted));
}

}  // namespace

TEST_CASE("reduced, unreduced and exhaustive answers are the same", "[solver]") {
    const auto count = problem_count();
    std::uint32_t solvable = 0;
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
        solvable += expected == "none" ? 0U : 1U;
    }
    // A generator of which nearly all problems are alike would prove little.
    CHECK(solvable > count / 4);
    CHECK(solvable < count / 4 * 3);
}
