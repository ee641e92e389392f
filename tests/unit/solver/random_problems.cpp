#include "tests/unit/solver/random_problems.hpp"

#include "libcore/index/repodata.hpp"
#include "solver/preference.hpp"
#include "solver/universe.hpp"
#include "solver/version_dates.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

namespace gpkg::tests {

using namespace gpkg::solver;

namespace {

constexpr std::uint32_t kNames = 6;

std::string name_text(std::uint32_t name) { return std::string(1, static_cast<char>('a' + name)); }

std::string random_spec(Dice& dice, std::uint32_t name) {
    static constexpr const char* kForms[] = {"{}",
                                             "{}",
                                             "{}",
                                             "{}",
                                             "{} >=2",
                                             "{} >=2",
                                             "{} <3",
                                             "{} 1.*",
                                             "{} ==2",
                                             "{} * b1",
                                             "{} 3 b0",
                                             "{} !=2"};
    return fmt::format(fmt::runtime(kForms[dice.roll(std::size(kForms))]), name_text(name));
}

/// What repodata v3 adds to a problem.
struct Novelty {
    bool conditions = false;
    bool extras = false;
};

const char* random_group(Dice& dice) { return dice.one_in(2) ? "x" : "y"; }

std::string random_leaf(Dice& dice) {
    static constexpr const char* kForms[] = {
        "{}", "{}", "{}", "{}>=2", "{}<3", "{}==1", "{}[build=b1]"};
    static constexpr const char* kMachine[] = {"__cuda", "__cuda>=12", "__cuda<12"};
    if (dice.one_in(4)) return kMachine[dice.roll(std::size(kMachine))];
    return fmt::format(fmt::runtime(kForms[dice.roll(std::size(kForms))]),
                       name_text(dice.roll(kNames)));
}

std::string random_condition(Dice& dice) {
    static constexpr const char* kForms[] = {
        "{}", "{}", "{}", "{} and {}", "{} or {}", "{} and ({} or {})", "{} or {} and {}"};
    return fmt::format(fmt::runtime(kForms[dice.roll(std::size(kForms))]),
                       random_leaf(dice),
                       random_leaf(dice),
                       random_leaf(dice));
}

/// The spec in the form of brackets, with `when` or extras or both.
std::string with_novelties(Dice& dice, const Novelty& novelty, const std::string& text) {
    auto match = MatchSpec::parse(text).value();
    if (novelty.conditions && dice.one_in(2)) match.when = random_condition(dice);
    if (novelty.extras && dice.one_in(3)) match.extras = {random_group(dice)};
    return match == MatchSpec::parse(text).value() ? text : match.to_string();
}

/// A record as repodata has it, `channel` 0 or 1.
struct Package {
    std::string fn;
    std::string json;
    std::uint32_t channel = 0;
    bool is_v3 = false;
};

std::string quoted(const std::vector<std::string>& texts) { return nlohmann::json(texts).dump(); }

/// Of each package in a problem. Where there are many, what was chosen first decides on much of the
/// rest, or nothing goes together.
struct Most {
    std::uint32_t depends = 0;
    std::uint32_t constrains = 0;
};

Package random_package(Dice& dice, std::uint32_t name, const Most& most, const Novelty& novelty) {
    std::vector<std::string> depends;
    std::vector<std::string> constrains;
    for (auto count = dice.roll(most.depends + 1); count > 0; --count) {
        const auto other = dice.roll(kNames);
        if (other != name)
            depends.push_back(with_novelties(dice, novelty, random_spec(dice, other)));
    }
    std::map<std::string, std::vector<std::string>> extras;
    for (auto count = novelty.extras ? dice.roll(4) : 0; count > 0; --count) {
        // Also on itself, with another group: what "all" is made of.
        auto& group = extras[random_group(dice)];
        if (!dice.one_in(4))
            group.push_back(with_novelties(dice, novelty, random_spec(dice, dice.roll(kNames))));
    }
    for (auto count = dice.roll(most.constrains + 1); count > 0; --count)
        constrains.push_back(random_spec(dice, dice.roll(kNames)));
    if (dice.one_in(8))
        depends.push_back(with_novelties(
            dice, {novelty.conditions, false}, dice.one_in(2) ? "__cuda" : "__cuda >=12"));
    if (dice.one_in(8)) constrains.emplace_back("__cuda >=12");
    // Some names have no build 0, so that a request for it fails.
    const auto build = dice.roll(2);
    const auto version = 1 + dice.roll(3);
    const auto text = name_text(name);
    Package package;
    package.channel = dice.one_in(4) ? 1 : 0;
    package.is_v3 = novelty.conditions || novelty.extras;
    package.fn = fmt::format("{}-{}-b{}", text, version, build);
    package.json =
        fmt::format(R"({{"name":"{0}","version":"{1}","build":"b{2}","build_number":{3},)"
                    R"("depends":{4},"constrains":{5},"timestamp":{6}{7}{8}}})",
                    text,
                    version,
                    build,
                    dice.one_in(3) ? 0 : build,
                    quoted(depends),
                    quoted(constrains),
                    dice.one_in(10) ? 0 : 1700000000000 + dice.roll(9),
                    dice.one_in(8) ? R"(,"track_features":"x")" : "",
                    extras.empty() ? "" : R"(,"extra_depends":)" + nlohmann::json(extras).dump());
    return package;
}

std::shared_ptr<const ChannelIndex> index_of(const std::vector<Package>& packages,
                                             std::uint32_t channel) {
    std::set<std::string> files;  // the first of two files of one name
    std::vector<std::string> old;
    std::vector<std::string> v3;
    for (const auto& package : packages) {
        if (package.channel != channel || !files.insert(package.fn).second) continue;
        (package.is_v3 ? v3 : old)
            .push_back(fmt::format(
                R"("{}{}":{})", package.fn, package.is_v3 ? "" : ".conda", package.json));
    }
    const auto base = fmt::format("https://host/channel{}", channel);
    auto index = read_repodata(fmt::format(R"({{"packages.conda":{{{}}},"v3":{{"conda":{{{}}}}}}})",
                                           fmt::join(old, ","),
                                           fmt::join(v3, ",")),
                               {base, "linux-64", base + "/linux-64/repodata.json"});
    REQUIRE(index);
    return std::make_shared<const ChannelIndex>(*std::move(index));
}

bool has_group(const Problem& problem, const std::string& name, const std::string& group) {
    return std::any_of(problem.indexes.begin(), problem.indexes.end(), [&](const auto& index) {
        const auto found = index->find(name).value();
        return std::any_of(found.rows().begin(), found.rows().end(), [&](const auto& row) {
            return index->record(found, row).value().extra_depends.contains(group);
        });
    });
}

/// With an extra only where that is no slip.
MatchSpec random_request(Dice& dice, const Problem& problem, const Novelty& novelty) {
    auto spec = MatchSpec::parse(random_spec(dice, dice.roll(kNames))).value();
    if (!novelty.extras || dice.one_in(4)) return spec;
    const std::string group = random_group(dice);
    if (has_group(problem, spec.name, group)) spec.extras = {group};
    return spec;
}

/// Some records of the channels and one that no channel has, as if an earlier request had put them
/// there; they need not fit together.
void add_installed(Dice& dice, Problem& problem, const Novelty& novelty) {
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
        gone.depends = {with_novelties(dice, novelty, random_spec(dice, dice.roll(kNames)))};
        if (novelty.extras)
            gone.extra_depends[random_group(dice)] = {
                with_novelties(dice, novelty, random_spec(dice, dice.roll(kNames)))};
        if (dice.one_in(2)) gone.depends.emplace_back("__cuda >=12");
        add(std::move(gone));
    }
    request.update_all = dice.one_in(8);
}

}  // namespace

Problem random_problem(Dice& dice) {
    std::vector<Package> packages;
    const Most most{1 + dice.roll(3), dice.roll(3)};
    Novelty novelty;
    novelty.conditions = dice.one_in(2);
    novelty.extras = dice.one_in(2);
    for (std::uint32_t name = 0; name < kNames; ++name) {
        for (auto count = 1 + dice.roll(5); count > 0; --count)
            packages.push_back(random_package(dice, name, most, novelty));
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
        problem.request.specs.push_back(random_request(dice, problem, novelty));
    for (auto count = dice.one_in(4) ? 1 + dice.roll(2) : 0; count > 0; --count) {
        auto spec = MatchSpec::parse(random_spec(dice, dice.roll(kNames))).value();
        problem.request.constraints.push_back(
            {std::move(spec),
             "is pinned",
             dice.one_in(2) ? Constraint::Holds::UntilNamed : Constraint::Holds::Always});
    }
    if (dice.one_in(20)) problem.request.specs.push_back(MatchSpec::parse("__cuda").value());
    if (dice.one_in(3)) add_installed(dice, problem, novelty);
    // What of a condition is left when nothing is brought in is a matter of its own.
    if (!novelty.conditions && !novelty.extras) problem.request.no_dependencies = dice.one_in(3);
    return problem;
}

Exhaustive::Exhaustive(const Problem& problem) : problem_(problem) {
    const auto universe = Universe::collect(problem);
    REQUIRE(universe);
    const auto ranking = rank_candidates(*universe);
    for (NameId id = 0; id < universe->names().size(); ++id) {
        const auto& name = universe->names()[id];
        const auto ages = version_ages(*universe, id);
        for (auto one = name.begin; one < name.end; ++one) {
            const auto record = universe->candidates()[one].record().value();
            by_rank_[record.name].emplace(ranking.ranks[one],
                                          Ranked{record,
                                                 {ranking.standings[one],
                                                  ranking.versions[one],
                                                  ranking.accelerators[one],
                                                  ranking.ranks[one]},
                                                 ages[one - name.begin]});
        }
    }
    for (const auto& record : problem.virtual_packages) machine_[record.name] = record;
}

bool Exhaustive::allows(const std::vector<std::string>& kept) {
    kept_ = kept;
    return completes(machine_);
}

/// Leaves of the names nothing but the best by this place that goes with the best of those before.
void Exhaustive::prefer(const std::vector<std::string>& names,
                        std::size_t place,
                        const Choice& settled) {
    for (const auto& name : names) {
        const auto all = by_rank_[name];
        std::set<std::uint32_t> places;
        for (const auto& [rank, ranked] : all) places.insert(ranked.places[place]);
        for (const auto best : places) {
            auto& left = by_rank_[name] = all;
            std::erase_if(left,
                          [&](const auto& entry) { return entry.second.places[place] != best; });
            if (completes(settled)) break;
        }
    }
}

/// Of all sums of ages, the least that is possible; of equal ones, where the first names are newer.
void Exhaustive::prefer_newest_together(const std::vector<std::string>& names,
                                        const Choice& settled) {
    std::vector<std::vector<std::int64_t>> ways{{}};
    for (const auto& name : names) {
        std::set<std::int64_t> ages;
        for (const auto& [rank, ranked] : by_rank_[name]) ages.insert(ranked.age);
        std::vector<std::vector<std::int64_t>> longer;
        for (const auto& way : ways) {
            for (const auto age : ages) {
                longer.push_back(way);
                longer.back().push_back(age);
            }
        }
        ways = std::move(longer);
    }
    std::ranges::sort(ways, {}, [](const auto& way) {
        return std::pair(std::accumulate(way.begin(), way.end(), std::int64_t{0}), way);
    });
    const auto all = by_rank_;
    for (const auto& way : ways) {
        by_rank_ = all;
        for (std::size_t i = 0; i < names.size(); ++i)
            std::erase_if(by_rank_[names[i]],
                          [&](const auto& entry) { return entry.second.age > way[i]; });
        if (completes(settled)) return;
    }
}

std::vector<std::string> Exhaustive::not_in(const Choice& settled,
                                            const std::vector<std::string>& names) {
    std::vector<std::string> others;
    for (const auto& name : names) {
        if (!settled.contains(name) && !name.starts_with("__") &&
            std::ranges::find(others, name) == others.end())
            others.push_back(name);
    }
    return others;
}

std::optional<Exhaustive::Choice> Exhaustive::best(const std::vector<std::string>& kept) {
    if (!allows(kept)) return std::nullopt;
    const auto before = by_rank_;
    auto found = best_of_level_after_level();
    by_rank_ = before;
    return found;
}

Exhaustive::Choice Exhaustive::best_of_level_after_level() {
    Choice settled = machine_;
    Extras asked = requested_extras();
    std::vector<std::string> order;
    std::vector<std::string> queue;
    std::set<std::pair<std::string, std::string>> told;  // conditional dependencies that are queued
    enum Place : std::size_t { Standing, Version, Accelerator, Rank };
    const auto settle = [&](const std::vector<std::string>& names) {
        for (const auto& name : names) {
            prefer({name}, Rank, settled);
            settled[name] = by_rank_[name].begin()->second.record;
            order.push_back(name);
            // What the machine decides is decided from the start.
            for (const auto& text : settled.at(name).depends) {
                if (!applies(spec(text), machine_) || !brings(text)) continue;
                told.emplace(name, text);
                ask_extras(spec(text), asked);
                queue.push_back(spec(text).name);
            }
        }
    };
    const auto settle_level = [&](const std::vector<std::string>& level) {
        const auto names = not_in(settled, level);
        prefer(names, Standing, settled);
        prefer(names, Version, settled);
        prefer(names, Accelerator, settled);
        settle(names);
    };
    const auto queue_conditional = [&] {
        for (const auto& name : order) {
            const auto& record = settled.at(name);
            const auto take = [&](const std::string& group, const std::string& text) {
                if (!applies(spec(text), settled) || !brings(text) ||
                    !told.emplace(name, group + text).second)
                    return;
                ask_extras(spec(text), asked);
                queue.push_back(spec(text).name);
            };
            for (const auto& text : record.depends) take("", text);
            for (const auto& [group, texts] : record.extra_depends) {
                for (const auto& text : texts) {
                    if (asked.contains({name, group})) take(group + ": ", text);
                }
            }
        }
    };
    const auto settle_all = [&] {
        do {
            while (!queue.empty()) settle_level(std::exchange(queue, {}));
            queue_conditional();
        } while (!queue.empty());
    };
    const auto& request = problem_.request;
    std::vector<std::string> requested;
    for (const auto& spec : request.specs) requested.push_back(spec.name);
    const auto named = requested.begin() + static_cast<std::ptrdiff_t>(request.named);
    for (const auto& group :
         {std::vector(requested.begin(), named), std::vector(named, requested.end())}) {
        const auto names = not_in(settled, group);
        prefer(names, Standing, settled);
        prefer_newest_together(names, settled);
        prefer(names, Version, settled);
        prefer(names, Accelerator, settled);
        settle(names);
    }
    for (const bool may_move : {false, true}) {
        auto level = kept_;
        std::erase_if(level, [&](const auto& name) { return request.may_move(name) != may_move; });
        settle_level(level);
        settle_all();
    }
    return settled;
}

Exhaustive::Extras Exhaustive::requested_extras() const {
    Extras asked;
    for (const auto& spec : problem_.request.specs) ask_extras(spec, asked);
    return asked;
}

void Exhaustive::ask_extras(const MatchSpec& spec, Extras& asked) {
    for (const auto& group : spec.extras) asked.emplace(spec.name, group);
}

bool Exhaustive::applies(const MatchSpec& spec, const Choice& choice) {
    if (!spec.when) return true;
    const auto known = conditions_.try_emplace(*spec.when, Condition::parse(*spec.when).value());
    return holds(known.first->second, choice);
}

bool Exhaustive::holds(const Condition& condition, const Choice& choice) {
    const auto part_holds = [&](const auto& part) { return holds(part, choice); };
    const auto& parts = condition.parts;
    switch (condition.kind) {
    case Condition::Kind::And: return std::all_of(parts.begin(), parts.end(), part_holds);
    case Condition::Kind::Or: return std::any_of(parts.begin(), parts.end(), part_holds);
    case Condition::Kind::Leaf: break;
    }
    const auto found = choice.find(condition.spec->name);
    return found != choice.end() && condition.spec->matches(found->second);
}

std::vector<std::pair<std::string, std::string>> Exhaustive::applying(const Choice& choice) {
    auto asked = requested_extras();
    std::vector<std::pair<std::string, std::string>> found;
    for (;;) {
        const auto before = asked.size();
        found.clear();
        const auto take = [&](const std::string& name, const std::string& text) {
            if (!applies(spec(text), choice)) return;
            ask_extras(spec(text), asked);
            found.emplace_back(name, text);
        };
        for (const auto& [name, record] : choice) {
            for (const auto& text : record.depends) take(name, text);
            for (const auto& [group, texts] : record.extra_depends) {
                if (!asked.contains({name, group})) continue;
                for (const auto& text : texts) take(name, text);
            }
        }
        if (before == asked.size()) return found;
    }
}

const MatchSpec& Exhaustive::spec(const std::string& text) {
    return specs_.try_emplace(text, MatchSpec::parse(text).value()).first->second;
}

/// The name of a dependency that nothing meets yet, "" when all are met; nothing where `choice`
/// breaks a rule.
std::optional<std::string> Exhaustive::open_name(const Choice& choice) {
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
        for (const auto& text : record.constrains)
            fine = fine && (!asks(text) || allow(spec(text)));
    }
    for (const auto& [name, text] : applying(choice)) {
        const bool counts = !text.starts_with("__") || !is_installed(choice.at(name));
        fine = fine && (!counts || (brings(text) ? need(spec(text)) : allow(spec(text))));
    }
    return fine ? std::optional(open) : std::nullopt;
}

/// Where nothing is brought in, dependencies only restrict; the machine is there in any case.
bool Exhaustive::brings(const std::string& text) const {
    return !problem_.request.no_dependencies || text.starts_with("__");
}

bool Exhaustive::is_installed(const PackageRecord& record) const {
    const auto& installed = problem_.request.installed;
    return std::any_of(installed.begin(), installed.end(), [&](const auto& one) {
        return one.channel == record.channel && one.fn == record.fn;
    });
}

bool Exhaustive::completes(const Choice& choice) {
    const auto open = open_name(choice);
    if (!open) return false;
    if (open->empty()) return true;
    const auto& records = by_rank_[*open];
    return std::any_of(records.begin(), records.end(), [&](const auto& entry) {
        auto more = choice;
        more[*open] = entry.second.record;
        return completes(more);
    });
}

std::string line(const PackageRecord& record) { return record.channel + "/" + record.fn; }

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
    if (problem.request.no_dependencies) lines += "no dependencies\n";
    lines += fmt::format("priority {}\n", static_cast<int>(problem.priority));
    for (const auto& index : problem.indexes) {
        for (const auto name : index->names()) {
            const auto found = index->find(name).value();
            for (const auto& row : found.rows()) {
                const auto record = index->record(found, row).value();
                lines += fmt::format("{} #{}: {} | {} {}",
                                     line(record),
                                     record.build_number,
                                     fmt::join(record.depends, "; "),
                                     fmt::join(record.constrains, "; "),
                                     fmt::join(record.track_features, " "));
                for (const auto& [group, texts] : record.extra_depends)
                    lines += fmt::format(" | {}: {}", group, fmt::join(texts, "; "));
                lines += "\n";
            }
        }
    }
    return lines;
}

std::uint32_t problem_count() { return static_cast<std::uint32_t>(4000 * test_effort()); }

}  // namespace gpkg::tests
