#include "tests/unit/solver/random_problems.hpp"

#include "libcore/index/repodata.hpp"
#include "solver/preference.hpp"
#include "solver/universe.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::tests {

using namespace gpkg::solver;

namespace {

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

/// `most_constrains`: of the packages in this problem. Where there are many, what was chosen first
/// decides on much of the rest.
Package random_package(Dice& dice, std::uint32_t name, std::uint32_t most_constrains) {
    std::vector<std::string> depends;
    std::vector<std::string> constrains;
    for (auto count = dice.roll(4); count > 0; --count) {
        const auto other = dice.roll(kNames);
        if (other != name) depends.push_back(random_spec(dice, other));
    }
    for (auto count = dice.roll(most_constrains + 1); count > 0; --count)
        constrains.push_back(random_spec(dice, dice.roll(kNames)));
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

}  // namespace

Problem random_problem(Dice& dice) {
    std::vector<Package> packages;
    const auto most_constrains = dice.roll(3);
    for (std::uint32_t name = 0; name < kNames; ++name) {
        for (auto count = 1 + dice.roll(5); count > 0; --count)
            packages.push_back(random_package(dice, name, most_constrains));
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

Exhaustive::Exhaustive(const Problem& problem) : problem_(problem) {
    const auto universe = Universe::collect(problem);
    REQUIRE(universe);
    const auto ranks = rank_candidates(*universe);
    for (CandidateId id = 0; id < universe->candidates().size(); ++id) {
        const auto record = universe->candidates()[id].record().value();
        by_rank_[record.name].emplace(ranks[id], record);
    }
    for (const auto& record : problem.virtual_packages) machine_[record.name] = record;
}

bool Exhaustive::allows(const std::vector<std::string>& kept) {
    kept_ = kept;
    return completes(machine_);
}

std::optional<Exhaustive::Choice> Exhaustive::best(const std::vector<std::string>& kept) {
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
        for (const auto& text : record.depends) fine = fine && (!asks(text) || need(spec(text)));
        for (const auto& text : record.constrains)
            fine = fine && (!asks(text) || allow(spec(text)));
    }
    return fine ? std::optional(open) : std::nullopt;
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
        more[*open] = entry.second;
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

std::uint32_t problem_count() {
    const char* wanted = std::getenv("GPKG_RANDOM_PROBLEMS");
    return wanted == nullptr ? 4000 : static_cast<std::uint32_t>(std::stoul(wanted));
}

}  // namespace gpkg::tests
