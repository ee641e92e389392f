#include "cli/workflow/ask/tried_fixes.hpp"

#include "cli/workflow/ask/fix_command.hpp"
#include "cli/workflow/installed.hpp"
#include "libcore/env/order.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

using Kind = ProblemChange::Kind;

/// Whether to give up earlier wishes for these would take other wishes along.
bool takes_more_along(const Question& question, const std::set<std::string>& dropped) {
    const auto graph = graph_of(question.present.records, question.present.wishes);
    std::vector<bool> named(graph.records().size());
    for (const auto& name : dropped) {
        if (const auto place = graph.find(name)) named[*place] = true;
    }
    const auto leaving = graph.all_needing(std::move(named));
    const auto& wishes = question.present.wishes;
    return std::any_of(wishes.begin(), wishes.end(), [&](const MatchSpec& wish) {
        const auto place = graph.find(wish.name);
        return place && leaving[*place] && !dropped.contains(wish.name);
    });
}

bool has_answer(Question question) {
    const auto solution = solution_of(question);
    return solution && *solution;
}

bool is_of_machine(const ProblemChange& change) { return change.kind == Kind::SetMachine; }

ProblemChange machine_with(std::string name, std::string version, std::string build) {
    ProblemChange change;
    change.kind = Kind::SetMachine;
    change.name = std::move(name);
    change.version = std::move(version);
    change.build = std::move(build);
    return change;
}

/// What the variables of a fix make of the machine beside what it wants: a GPU comes with a driver.
std::vector<ProblemChange> changes_beside(const std::vector<PackageRecord>& machine,
                                          const Question& question,
                                          const Fix& fix) {
    std::vector<ProblemChange> more;
    for (const auto& record : machine) {
        const auto* now = find_record(question.problem.virtual_packages, record.name);
        const bool is_same =
            now != nullptr && now->version == record.version && now->build == record.build;
        if (is_same || std::ranges::any_of(fix.changes, [&](const auto& change) {
                return is_of_machine(change) && change.name == record.name;
            }))
            continue;
        more.push_back(machine_with(record.name, record.version, record.build));
    }
    return more;
}

/// Whether the variables make the machine what the fix wants it to be: no variable makes a Mac of a
/// target that is none.
bool can_be_had(const Context& context, const Question& question, const Fix& fix) {
    if (std::ranges::none_of(fix.changes, is_of_machine)) return true;
    // The lock would be for none of the machines that it is made for, be they named now or when
    // what is there was locked. Only what gpkg assumes of a machine may be said otherwise.
    const bool is_named = question.machine.profile || !question.present.records.empty();
    const FixCommand command(context, question, fix);
    if (question.wanted.is_for_lock && is_named && !command.gives_facts()) return false;
    const auto env = [&](std::string_view name) -> std::optional<std::string> {
        const auto found = command.environment().find(std::string(name));
        return found == command.environment().end() ? context.env(name) : found->second;
    };
    const auto records = virtual_packages_with(context, question.machine, env);
    const bool is_made = std::ranges::all_of(fix.changes, [&](const auto& change) {
        if (!is_of_machine(change)) return true;
        const auto wanted = Version::parse(change.version);
        return std::any_of(records.begin(), records.end(), [&](const auto& record) {
            const auto version = version_of(record);
            return record.name == change.name && wanted && version && *version == *wanted &&
                   (change.name != "__archspec" || record.build == change.build);
        });
    });
    auto beside = changes_beside(records, question, fix);
    if (!is_made || beside.empty()) return is_made;
    beside.insert(beside.end(), fix.changes.begin(), fix.changes.end());
    auto changed = with_changes(question, beside);
    return changed && has_answer(*std::move(changed));
}

/// Of the driver that comes with a GPU, where kUsualCuda is too old for what is asked for.
constexpr std::string_view kNextCuda = "13.0";

/// The fix as variables can have it; nothing where they cannot.
std::optional<Fix> havable(const Context& context, const Question& question, Fix fix) {
    if (can_be_had(context, question, fix)) return fix;
    const auto sets = [&](std::string_view name) {
        return std::ranges::any_of(fix.changes, [&](const ProblemChange& change) {
            return is_of_machine(change) && change.name == name;
        });
    };
    if (!sets("__cuda_arch") || sets("__cuda")) return std::nullopt;
    fix.changes.push_back(machine_with("__cuda", std::string(kNextCuda), "0"));
    return can_be_had(context, question, fix) ? std::optional(std::move(fix)) : std::nullopt;
}

/// An update takes names of what is there.
bool names_what_is_not_there(const Question& question, const ProblemChange& change) {
    if (question.wanted.update.empty()) return false;
    const auto is_there = [&](const std::string& name) {
        return find_record(question.present.records, name) != nullptr;
    };
    if (change.kind == Kind::SetAccelerator) return !is_there(change.name);
    if (change.kind != Kind::LetChange) return false;
    const auto asked = AskedSpec::parse(change.spec);
    return asked && !is_there(asked->spec.name);
}

/// What stands in a lock alone cannot be asked for otherwise.
bool is_to_edit_lock(const Context& context, const Question& question, const Fix& fix) {
    return question.specs_stand == ChangeRequest::SpecsStand::InLock &&
           !FixCommand(context, question, fix).before().empty();
}

/// The package that a build tests is requested by its build string, in no text that a user wrote.
bool changes_built_package(const Question& question, const ProblemChange& change) {
    if (question.specs_stand != ChangeRequest::SpecsStand::InRecipe) return false;
    if (change.kind != Kind::ReplaceSpec && change.kind != Kind::DropSpec) return false;
    return question.problem.request.specs.at(change.index).build.has_value();
}

/// Not to ask for what this command is about is no help: earlier wishes would be all that is left.
std::vector<Fix> helpful(const Context& context, const Question& question, std::vector<Fix> fixes) {
    const auto is_own = [&](const ProblemChange& change) {
        return change.kind == Kind::DropSpec && change.index < question.wanted.specs.size();
    };
    std::erase_if(fixes, [&](const Fix& fix) {
        std::set<std::string> earlier;
        for (const auto& change : fix.changes) {
            if (change.kind == Kind::DropSpec && !is_own(change))
                earlier.insert(question.problem.request.specs.at(change.index).name);
        }
        const auto dropped = std::count_if(fix.changes.begin(), fix.changes.end(), is_own);
        const bool drops_all =
            dropped > 0 && static_cast<std::size_t>(dropped) == question.wanted.specs.size();
        return drops_all || (!earlier.empty() && takes_more_along(question, earlier)) ||
               std::ranges::any_of(fix.changes,
                                   [&](const auto& change) {
                                       return names_what_is_not_there(question, change) ||
                                              changes_built_package(question, change);
                                   }) ||
               is_to_edit_lock(context, question, fix);
    });
    std::vector<Fix> left;
    for (auto& fix : fixes) {
        if (auto one = havable(context, question, std::move(fix))) left.push_back(*std::move(one));
    }
    return left;
}

/// Whether the command asks for more than the problem that the solver was given.
bool differs_from_problem(const Question& question) {
    const auto& reach = question.wanted.reach;
    return !question.present.records.empty() || reach.update_deps || reach.only_deps;
}

/// What the command of a fix for `asked` changes for another class of the same lock: its words
/// count for all classes, as what stands in a file without a selector does.
std::vector<ProblemChange> elsewhere(const Question& asked,
                                     const Question& other,
                                     const std::vector<ProblemChange>& changes) {
    const auto& own = asked.problem.request;
    const auto& specs = other.problem.request.specs;
    std::vector<ProblemChange> others;
    for (auto change : changes) {
        if (change.kind == Kind::SetMachine) continue;
        if (change.kind == Kind::DropConstraint) {
            // To name it lets it move in all of them.
            change.kind = Kind::LetChange;
            change.spec = own.constraints.at(change.index).spec.name;
            if (find_record(other.present.records, change.spec) == nullptr) continue;
        } else if (change.kind == Kind::ReplaceSpec || change.kind == Kind::DropSpec) {
            const auto place = std::ranges::find(specs, own.specs.at(change.index));
            if (place == specs.end()) continue;
            change.index = static_cast<std::size_t>(place - specs.begin());
        } else if (change.kind == Kind::SetAccelerator &&
                   std::ranges::find(specs, change.name, &MatchSpec::name) == specs.end()) {
            change.kind = Kind::LetChange;
            change.spec = change.name + "[accel=auto]";
        }
        others.push_back(std::move(change));
    }
    return others;
}

/// Whether another class has an answer, and none with the fix.
bool is_lost_with(const Question& other, const Question& asked, const Fix& fix) {
    const auto changes = elsewhere(asked, other, fix.changes);
    if (changes.empty()) return false;
    auto changed = with_changes(other, changes);
    return changed && !has_answer(*std::move(changed)) && has_answer(other);
}

/// The fix as its command would do it; nothing where that would fail. The solver tried the problem:
/// where there is an environment, an earlier wish or a flag may come in again.
std::optional<TriedFix> tried(const Context& context, const Question& question, Fix fix) {
    const bool asks_for_vendor =
        vendors_with(question.problem.virtual_packages, has_vendor).size() > 1;
    const bool is_of_any_accelerator = drops_accel_option(context, question, fix);
    if (!differs_from_problem(question) && !asks_for_vendor && !is_of_any_accelerator)
        return TriedFix{std::move(fix)};
    auto before = question;
    if (is_of_any_accelerator) before.wanted.accelerators.all.clear();
    auto changed = with_changes(std::move(before), fix.changes);
    if (!changed) return std::nullopt;
    if (asks_for_vendor) {
        const auto doubt = prefer_vendor(*changed);
        if (!doubt || *doubt) return std::nullopt;
    }
    const auto solution = solution_of(*changed);
    if (!solution || !*solution) return std::nullopt;
    const auto& records = (*solution)->records;
    const auto is_left_out = [&](const ProblemChange& change) {
        return change.kind == Kind::SetAccelerator && find_record(records, change.name) == nullptr;
    };
    if (std::ranges::any_of(fix.changes, is_left_out)) return std::nullopt;
    std::vector<Fix::Package> gives;
    for (const auto& package : fix.gives) {
        for (const auto& record : records) {
            if (record.name != package.name) continue;
            gives.push_back({record.name, record.version, record.build, package.channel});
            if (accelerator_of(record).accelerator == Accelerator::None)
                gives.back().remark = package.remark;
        }
    }
    fix.gives = std::move(gives);
    std::vector<std::string> requested;
    for (const auto& wish : changed->present.wishes) requested.push_back(wish.name);
    return TriedFix{std::move(fix), downgrades(requested, changed->present.records, records)};
}

}  // namespace

std::vector<TriedFix> tried_fixes(const Context& context,
                                  const Question& question,
                                  std::vector<Fix> fixes,
                                  const std::vector<const Question*>& others) {
    std::vector<TriedFix> found;
    for (auto& fix : helpful(context, question, std::move(fixes))) {
        if (std::ranges::any_of(
                others, [&](const Question* other) { return is_lost_with(*other, question, fix); }))
            continue;
        if (auto one = tried(context, question, std::move(fix))) found.push_back(*std::move(one));
    }
    std::ranges::stable_sort(found, {}, [](const TriedFix& one) { return one.lowered.size(); });
    return found;
}

}  // namespace gpkg::cli
