#include "cli/workflow/ask/unsatisfiable.hpp"

#include "cli/workflow/ask/fix_command.hpp"
#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/order.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/old_names.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ProblemChange::Kind;

struct AskedInVain {
    const Context& context;
    const Question& question;
};

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

/// Whether the variables make the machine what the fix wants it to be: no variable makes a Mac of a
/// target that is none.
bool can_be_had(const AskedInVain& asked, const Fix& fix) {
    const auto is_of_machine = [](const auto& change) { return change.kind == Kind::SetMachine; };
    if (std::none_of(fix.changes.begin(), fix.changes.end(), is_of_machine)) return true;
    // The lock would be for none of the machines that it is made for; but of a platform alone no
    // more is known than the variables say.
    const auto& machine = asked.question.machine;
    const bool is_known = machine.profile ||
                          machine.platform == virtual_packages::this_machine().native_platform ||
                          asked.question.specs_stand != ChangeRequest::SpecsStand::InWords;
    if (asked.question.wanted.is_for_lock && is_known) return false;
    const FixCommand command(asked.context, asked.question, fix);
    const auto env = [&](std::string_view name) -> std::optional<std::string> {
        const auto found = command.environment().find(std::string(name));
        return found == command.environment().end() ? asked.context.env(name) : found->second;
    };
    const auto records = virtual_packages_with(asked.context, asked.question.machine, env);
    return std::all_of(fix.changes.begin(), fix.changes.end(), [&](const auto& change) {
        if (!is_of_machine(change)) return true;
        const auto wanted = Version::parse(change.version);
        return std::any_of(records.begin(), records.end(), [&](const auto& record) {
            const auto version = version_of(record);
            return record.name == change.name && wanted && version && *version == *wanted &&
                   (change.name != "__archspec" || record.build == change.build);
        });
    });
}

/// What stands in a lock alone cannot be asked for otherwise.
bool is_to_edit_lock(const AskedInVain& asked, const Fix& fix) {
    return asked.question.specs_stand == ChangeRequest::SpecsStand::InLock &&
           !FixCommand(asked.context, asked.question, fix).before().empty();
}

/// Not to ask for what this command is about is no help: earlier wishes would be all that is left.
std::vector<Fix> helpful(const AskedInVain& asked, std::vector<Fix> fixes) {
    const auto is_own = [&](const ProblemChange& change) {
        return change.kind == Kind::DropSpec && change.index < asked.question.wanted.specs.size();
    };
    std::erase_if(fixes, [&](const Fix& fix) {
        std::set<std::string> earlier;
        for (const auto& change : fix.changes) {
            if (change.kind == Kind::DropSpec && !is_own(change))
                earlier.insert(asked.question.problem.request.specs.at(change.index).name);
        }
        const auto dropped = std::count_if(fix.changes.begin(), fix.changes.end(), is_own);
        const bool drops_all =
            dropped > 0 && static_cast<std::size_t>(dropped) == asked.question.wanted.specs.size();
        return drops_all || (!earlier.empty() && takes_more_along(asked.question, earlier)) ||
               !can_be_had(asked, fix) || is_to_edit_lock(asked, fix);
    });
    return fixes;
}

/// Whether the command asks for more than the problem that the solver was given.
bool differs_from_problem(const Question& question) {
    const auto& reach = question.wanted.reach;
    return !question.present.records.empty() || reach.update_deps || reach.only_deps;
}

struct TriedFix {
    Fix fix;
    /// What was asked for earlier and goes down: "pytorch from 2.10.0 to 1.11.0".
    std::vector<std::string> lowered{};
};

std::vector<std::string> lowered(const Question& question,
                                 const std::vector<PackageRecord>& records) {
    std::vector<std::string> texts;
    for (const auto& wish : question.present.wishes) {
        const auto* old = find_record(question.present.records, wish.name);
        const auto now = std::ranges::find(records, wish.name, &PackageRecord::name);
        if (old == nullptr || now == records.end()) continue;
        const auto before = version_of(old->package);
        const auto after = version_of(*now);
        if (before && after && *after < *before)
            texts.push_back(
                fmt::format("{} from {} to {}", wish.name, old->package.version, now->version));
    }
    return texts;
}

bool has_answer(Question question) {
    const auto solution = solution_of(question);
    return solution && *solution;
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
std::optional<TriedFix> tried(const Question& question, Fix fix) {
    if (!differs_from_problem(question)) return TriedFix{std::move(fix)};
    auto changed = with_changes(question, fix.changes);
    if (!changed) return std::nullopt;
    const auto solution = solution_of(*changed);
    if (!solution || !*solution) return std::nullopt;
    const auto& records = (*solution)->records;
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
    return TriedFix{std::move(fix), lowered(*changed, records)};
}

/// One line that can be pasted, with a remark on what it is for.
std::string fix_text(const AskedInVain& asked, const TriedFix& tried) {
    const auto& fix = tried.fix;
    const FixCommand command(asked.context, asked.question, fix);
    auto text = command.text();
    std::vector<std::string> remarks;
    if (const auto before = command.before(); !before.empty())
        remarks.push_back("after " + join_some(before, "and", before.size()));
    if (const auto& dropped = command.dropped(); !dropped.empty())
        remarks.push_back("without " + join_some(dropped, "and", dropped.size()));
    if (!command.machines().empty())
        remarks.push_back("for a machine with " + join_some(command.machines(), "and"));
    if (auto gives = fix.gives_text(); !gives.empty()) remarks.push_back(std::move(gives));
    if (!tried.lowered.empty())
        remarks.push_back("takes " + join_some(tried.lowered, "and", tried.lowered.size()));
    if (!remarks.empty()) text += fmt::format("  # {}", fmt::join(remarks, ": "));
    return text;
}

std::string_view name_of(ExplanationLine::Kind kind) {
    switch (kind) {
    case ExplanationLine::Kind::Request: return "request";
    case ExplanationLine::Kind::Pin: return "pin";
    case ExplanationLine::Kind::Asks: return "asks";
    case ExplanationLine::Kind::Machine: return "machine";
    case ExplanationLine::Kind::Offer: return "offer";
    case ExplanationLine::Kind::Present: return "present";
    }
    return "";
}

std::string_view name_of(Kind kind) {
    switch (kind) {
    case Kind::ReplaceSpec: return "replace_spec";
    case Kind::DropSpec: return "drop_spec";
    case Kind::DropConstraint: return "drop_pin";
    case Kind::SetPriority: return "channel_priority";
    case Kind::AllowNewer: return "exclude_newer";
    case Kind::SetMachine: return "virtual_package";
    case Kind::LetChange: return "let_change";
    case Kind::SetAccelerator: return "accelerator";
    }
    return "";
}

Json json_of(const ExplanationLine& line) {
    Json document{{"kind", name_of(line.kind)},
                  {"depth", line.depth},
                  {"text", line.text()},
                  {"name", line.name},
                  {"specs", line.specs}};
    if (line.kind == ExplanationLine::Kind::Asks) {
        document["target"] = line.target;
        document["needs"] = line.some_need;
        document["constrains"] = line.some_restrict;
        document["builds"] = {{"count", line.builds.count},
                              {"of", line.builds.of},
                              {"lowest", line.builds.lowest},
                              {"highest", line.builds.highest}};
        if (!line.builds.accelerator.empty())
            document["builds"]["accelerator"] = line.builds.accelerator;
        if (!line.builds.variant.empty()) document["builds"]["variant"] = line.builds.variant;
    }
    if (line.kind == ExplanationLine::Kind::Pin) document["reason"] = line.reason;
    if (line.askers > 0 || line.kind == ExplanationLine::Kind::Machine ||
        line.kind == ExplanationLine::Kind::Present) {
        document["versions"] = line.versions;
        if (!line.other_builds.empty()) document["builds"] = line.other_builds;
        if (line.other_flags) document["flags"] = *line.other_flags;
        document["left_out"] = Json::array();
        for (const auto& out : line.left_out)
            document["left_out"].push_back({{"why", out.why}, {"versions", out.versions}});
        if (!line.channels.empty()) document["channels"] = line.channels;
    }
    return document;
}

Json json_of(const ProblemChange& change) {
    Json document{{"kind", name_of(change.kind)}, {"text", change.text()}};
    if (!change.before.empty()) document["before"] = change.before;
    if (!change.spec.empty()) document["after"] = change.spec;
    if (change.kind == Kind::SetMachine) {
        document["name"] = change.name;
        document["version"] = change.version;
        document["build"] = change.build;
    }
    return document;
}

Json json_of(const AskedInVain& asked, const TriedFix& tried) {
    const FixCommand command(asked.context, asked.question, tried.fix);
    Json document{{"command", command.text()}, {"edits", command.before()}};
    document.update(fix_json(tried.fix));
    document["lowers"] = tried.lowered;
    return document;
}

/// "CONDA_OVERRIDE_CUDA=11 decides what this machine has of __cuda", of what clashes.
std::string hint_on_overrides(const AskedInVain& asked, const Explanation& explanation) {
    std::set<std::string> texts;
    for (const auto& clash : explanation.clashes) {
        for (const auto& line : clash.lines) {
            if (line.kind != ExplanationLine::Kind::Machine || !line.name.starts_with("__"))
                continue;
            const auto variable = override_variable(std::string_view(line.name).substr(2));
            if (const auto value = asked.context.env(variable))
                texts.insert(fmt::format(
                    "{}={} decides what {} has of {}", variable, *value, line.machine, line.name));
        }
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

/// Where the accelerator that is in the way was never typed.
std::string hint_on_accelerator(const AskedInVain& asked, const Explanation& explanation) {
    const auto& usual = asked.context.config.accelerator;
    const bool is_in_the_way = std::ranges::any_of(explanation.fixes, [](const Fix& fix) {
        return std::ranges::any_of(fix.changes, [](const ProblemChange& change) {
            return change.kind == Kind::SetAccelerator;
        });
    });
    const auto choices = parse_accelerator_choices(usual.value);
    if (usual.value.empty() || !is_in_the_way || !choices ||
        *choices != asked.question.wanted.accelerators.all ||
        std::ranges::any_of(asked.context.arguments,
                            [](const auto& word) { return word.starts_with("--accel"); }))
        return {};
    return fmt::format(
        "accelerator: {} comes of {}; --accel says another", usual.value, usual.source);
}

/// Of several accelerators that were tried, the explanation is about the first.
std::string title(const Question& question) {
    std::string plain = "no set of packages meets the request";
    const auto& problem = question.problem;
    const auto tried = problem.request.accelerators.in_turn_on(problem.virtual_packages);
    if (tried.size() < 2) return plain;
    std::vector<std::string> names;
    names.reserve(tried.size());
    for (const auto choice : tried) names.emplace_back(to_string(choice));
    return fmt::format("{} with any of the accelerators {}; with {}:",
                       plain,
                       join_some(names, "and", names.size()),
                       names.front());
}

/// Where a name that the class' platform has nothing of is to be had for another class.
std::string hint_on_platforms(const Explanation& explanation,
                              const std::vector<const Question*>& others) {
    for (const auto& clash : explanation.clashes) {
        const auto& line = clash.lines.front();
        if (line.channels.empty()) continue;
        for (const auto* other : others) {
            if (std::ranges::any_of(other->problem.indexes,
                                    [&](const auto& index) { return index->has(line.name); }))
                return fmt::format(
                    "{} is there for {}: in an environment.yml, a selector asks for it there alone",
                    line.name,
                    other->machine.platform);
        }
    }
    return {};
}

/// "tensorflow-gpu", where there is a tensorflow.
std::string hint_on_builds(const AskedInVain& asked, const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        const auto& line = clash.lines.front();
        const auto built = line.channels.empty() ? std::nullopt : build_in_name(line.name);
        const auto has = [&](const auto& index) { return index->has(built->package); };
        if (built && std::ranges::any_of(asked.question.problem.indexes, has))
            return fmt::format("{} is an old way of asking for a build: '{}[accel={}]' asks for it",
                               line.name,
                               built->package,
                               to_string(built->accelerator));
    }
    return {};
}

}  // namespace

std::string hint_on_names(const Explanation& explanation) {
    const auto is_unknown = [](const Explanation::Clash& clash) {
        return !clash.lines.front().channels.empty();
    };
    if (std::none_of(explanation.clashes.begin(), explanation.clashes.end(), is_unknown)) return {};
    for (const auto& clash : explanation.clashes) {
        const auto& line = clash.lines.front();
        const auto* old = is_unknown(clash) ? old_name(line.name) : nullptr;
        if (old != nullptr)
            return fmt::format("{} is an old way of {}: {}", old->name, old->of, old->instead);
    }
    std::vector<std::string> near;
    const auto note = [&](const std::string& name) {
        if (!name.empty() && std::find(near.begin(), near.end(), name) == near.end())
            near.push_back(name);
    };
    for (const auto& fix : explanation.fixes) {
        for (const auto& change : fix.changes) {
            if (change.kind == Kind::DropSpec) note(change.name);
            if (change.kind != Kind::ReplaceSpec) continue;
            const auto before = MatchSpec::parse(change.before);
            const auto after = MatchSpec::parse(change.spec);
            if (before && after && before->name != after->name) note(after->name);
        }
    }
    if (near.empty()) return "another channel may have it: -c CHANNEL adds one";
    return fmt::format("did you mean {}?",
                       explanation.clashes.size() > 1 ? join_some(near, "and") : join_or(near));
}

Json clashes_json(const Explanation& explanation) {
    auto clashes = Json::array();
    for (const auto& clash : explanation.clashes) {
        auto lines = Json::array();
        for (const auto& line : clash.lines) lines.push_back(json_of(line));
        clashes.push_back(std::move(lines));
    }
    return clashes;
}

Json fix_json(const Fix& fix) {
    Json document;
    document["changes"] = Json::array();
    for (const auto& change : fix.changes) document["changes"].push_back(json_of(change));
    document["gives"] = Json::array();
    for (const auto& package : fix.gives)
        document["gives"].push_back(
            {{"name", package.name}, {"version", package.version}, {"build", package.build}});
    return document;
}

Error unsatisfiable(const Context& context,
                    const Question& question,
                    const Explanation& explanation,
                    const std::vector<const Question*>& others) {
    const AskedInVain asked{context, question};
    Json details{{"clashes", clashes_json(explanation)}};
    if (explanation.more > 0) details["more_clashes"] = explanation.more;
    std::vector<TriedFix> fixes;
    for (auto& fix : helpful(asked, explanation.fixes)) {
        if (std::ranges::any_of(
                others, [&](const Question* other) { return is_lost_with(*other, question, fix); }))
            continue;
        if (auto one = tried(question, std::move(fix))) fixes.push_back(*std::move(one));
    }
    std::ranges::stable_sort(fixes, {}, [](const TriedFix& one) { return one.lowered.size(); });
    details["fixes"] = Json::array();
    for (const auto& fix : fixes) details["fixes"].push_back(json_of(asked, fix));

    auto message = title(question) + "\n" + explanation.tree();
    if (!fixes.empty()) message += "\nwhat would work:";
    for (const auto& fix : fixes) message += "\n  " + fix_text(asked, fix);
    Error error{ErrorKind::Unsatisfiable, std::move(message), {}, {}, {}};
    error.hint = hint_on_platforms(explanation, others);
    if (error.hint.empty()) error.hint = hint_on_builds(asked, explanation);
    if (error.hint.empty()) error.hint = hint_on_names(explanation);
    if (error.hint.empty()) error.hint = hint_on_overrides(asked, explanation);
    if (error.hint.empty()) error.hint = hint_on_accelerator(asked, explanation);
    error.details = json_text(details);
    return error;
}

}  // namespace gpkg::cli
