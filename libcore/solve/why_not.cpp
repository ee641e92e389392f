#include "libcore/solve/why_not.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/solve/answer.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace gpkg {
namespace {

using ByName = std::map<std::string, PackageRecord>;

/// The machine is a part of every answer.
ByName by_name(const Problem& problem, const Solution& solution) {
    ByName records;
    for (const auto& record : problem.virtual_packages) records.emplace(record.name, record);
    for (const auto& record : solution.records) records.emplace(record.name, record);
    return records;
}

std::optional<PackageRecord> find(const ByName& records, const std::string& name) {
    const auto found = records.find(name);
    return found == records.end() ? std::nullopt : std::optional(found->second);
}

bool is_same(const std::optional<PackageRecord>& a, const std::optional<PackageRecord>& b) {
    if (!a || !b) return !a && !b;
    return a->channel == b->channel && a->subdir == b->subdir && a->fn == b->fn;
}

bool is_held(const Request& request, const PackageRecord& record) {
    return !request.may_move(record.name) &&
           std::any_of(
               request.installed.begin(), request.installed.end(), [&](const auto& installed) {
                   return installed.name == record.name && installed.version == record.version &&
                          installed.build == record.build;
               });
}

/// What is installed and is kept, which comes before all preference, but not with the spec.
std::vector<std::string> lost_with(const Request& request, const ByName& now, const ByName& then) {
    std::vector<std::string> lost;
    for (const auto& name : request.keep) {
        if (now.contains(name) && !then.contains(name)) lost.push_back(name);
    }
    return lost;
}

/// What is in question is told as that, not as a wish; and nothing is gained by giving it up.
Explanation about_question(Explanation explanation, std::size_t index) {
    using Change = ProblemChange::Kind;
    for (auto& clash : explanation.clashes) {
        for (auto& line : clash.lines) {
            if (line.kind != ExplanationLine::Kind::Request || line.index != index ||
                line.askers > 0)
                continue;
            line.kind = ExplanationLine::Kind::Pin;
            line.reason = "is the spec in question";
        }
    }
    std::erase_if(explanation.fixes, [&](const Fix& fix) {
        return std::any_of(fix.changes.begin(), fix.changes.end(), [&](const auto& change) {
            return (change.kind == Change::ReplaceSpec || change.kind == Change::DropSpec) &&
                   change.index == index;
        });
    });
    return explanation;
}

/// Whether what is in question is a name that no channel has.
bool is_unknown(const Explanation& explanation, std::size_t index) {
    const auto& line = explanation.clashes.front().lines.front();
    return line.kind == ExplanationLine::Kind::Request && line.index == index &&
           !line.channels.empty();
}

/// What an update of a mere name holds to, it does not with a version or a build: only CUDA stays.
void lift_floors(Request& request) {
    std::erase_if(request.constraints, [](const Constraint& constraint) {
        return constraint.holds == Constraint::Holds::WherePossible &&
               !tells_cuda_version(constraint.spec.name);
    });
}

/// What was settled up to the first that is not the same with the spec, which is the last of all.
struct Settled {
    std::vector<std::string> graded;  ///< requested: their version and accelerator are settled
    std::vector<std::string> names;   ///< those whose build is as well

    bool empty() const { return graded.empty() && names.empty(); }
    const std::string& first_other() const { return names.empty() ? graded.back() : names.back(); }
};

/// Whether two builds of a name that both run, or both do not, differ in less than what is settled
/// first, as the solver has it (Ranking::accelerators in solver/preference.hpp).
bool is_alike(const Problem& problem,
              const std::optional<PackageRecord>& a,
              const std::optional<PackageRecord>& b) {
    if (!a || !b) return !a && !b;
    return a->version == b->version &&
           accelerator_of(*a).accelerator == accelerator_of(*b).accelerator &&
           a->track_features.empty() == b->track_features.empty() &&
           (problem.priority != ChannelPriority::Flexible || a->channel == b->channel);
}

bool is_older(const std::optional<PackageRecord>& a, const std::optional<PackageRecord>& b) {
    if (!a || !b) return false;
    const auto one = version_of(*a);
    const auto other = version_of(*b);
    return one && other && *one < *other;
}

/// The versions and accelerators of requested packages are settled together, one that is worse with
/// the spec standing last here; then builds one after the other.
Settled settled_before(const Problem& problem,
                       const std::string& in_question,
                       const Solution& answer,
                       const Solution& other,
                       const ByName& now,
                       const ByName& then) {
    const auto is_as_now = [&](const std::string& name) {
        return (answer.find_not_running(name) == nullptr) ==
                   (other.find_not_running(name) == nullptr) &&
               is_alike(problem, find(now, name), find(then, name));
    };
    std::vector<std::string> alike;
    std::vector<std::string> different;
    for (const auto& spec : problem.request.specs) {
        if (!now.contains(spec.name) || spec.name.starts_with("__")) continue;
        (is_as_now(spec.name) ? alike : different).push_back(spec.name);
    }
    if (different.size() > 1 && !is_older(find(then, in_question), find(now, in_question)))
        std::erase(different, in_question);
    std::stable_partition(different.begin(), different.end(), [&](const std::string& name) {
        return name != in_question && !is_older(find(then, name), find(now, name));
    });
    Settled settled;
    if (!different.empty()) {
        settled.graded = std::move(alike);
        settled.graded.insert(settled.graded.end(), different.begin(), different.end());
        return settled;
    }
    for (const auto& name : answer.settled) {
        settled.names.push_back(name);
        if (!is_same(find(now, name), find(then, name))) return settled;
    }
    return {};
}

/// What is told as a fact beside versions and builds.
struct Told {
    bool channels = false;  ///< for records that have a namesake elsewhere
    bool kept = false;      ///< that what is installed is to stay
    bool builds = false;    ///< also of what is not the same by its accelerator alone
};

/// The less is told, the plainer is the reason: more only where that does not do. Builds make a
/// difference where some were settled by their accelerator first.
constexpr std::array<Told, 8> kTold{{{},
                                     {.channels = true},
                                     {.kept = true},
                                     {.channels = true, .kept = true},
                                     {.builds = true},
                                     {.channels = true, .builds = true},
                                     {.kept = true, .builds = true},
                                     {.channels = true, .kept = true, .builds = true}}};
constexpr std::size_t kWithoutBuilds = 4;

/// With what was settled earlier as it is, there is no solution: that tells why.
Result<Explanation> chain(Problem problem,
                          const Settled& settled,
                          const ByName& now,
                          std::size_t index,
                          const Told& told,
                          const Solve& solve) {
    auto& request = problem.request;
    std::set<std::string> requested;
    for (const auto& spec : request.specs) requested.insert(spec.name);
    std::set<std::string> is_told;
    const auto tell = [&](const std::string& name, bool with_build) -> Result<void> {
        if (!is_told.insert(name).second) return {};
        const auto& record = now.at(name);
        auto text = fmt::format("{}=={}", name, record.version);
        if (with_build) text += "=" + record.build;
        GPKG_TRY(auto exact, MatchSpec::parse(text));
        if (told.channels) {
            exact.channel = record.channel;
            exact.subdir = record.subdir;
        }
        request.constraints.push_back(
            {std::move(exact),
             is_held(request, record)   ? "is installed and changes only when requested"
             : requested.contains(name) ? "is the best match for the request"
                                        : "is the best match for the requested packages"});
        return {};
    };
    for (const auto& name : settled.names) GPKG_CHECK(tell(name, true));
    for (const auto& name : settled.graded)
        GPKG_CHECK(tell(name, told.builds && name == settled.first_other()));
    const auto imply = [&](const std::string& name, std::string reason) {
        if (!requested.insert(name).second) return;
        MatchSpec spec;
        spec.name = name;
        request.specs.push_back(std::move(spec));
        ++request.implied;
        request.implied_reason = std::move(reason);
    };
    if (told.kept) {
        for (const auto& name : request.keep) {
            if (now.contains(name)) imply(name, "is installed and must stay");
        }
    } else {
        imply(settled.first_other(), "is needed for the requested packages");
    }
    problem.wants_fixes = false;  // they would be about what is told here as a fact
    GPKG_TRY(auto outcome, solve(problem));
    auto* explanation = std::get_if<Explanation>(&outcome);
    if (explanation == nullptr) return Explanation{};
    return about_question(std::move(*explanation), index);
}

}  // namespace

Result<WhyNot> why_not(Problem problem,
                       const MatchSpec& spec,
                       const Solve& solve,
                       const Advantage& advantage) {
    using Verdict = WhyNot::Verdict;
    WhyNot found;
    problem.wants_notes = false;
    GPKG_TRY(auto answered, gpkg::answer(problem, solve));
    if (auto* explanation = std::get_if<Explanation>(&answered.outcome)) {
        found.verdict = Verdict::NoAnswer;
        found.explanation = std::move(*explanation);
        return found;
    }
    const auto& answer = std::get<Solution>(answered.outcome);
    const auto now = by_name(problem, answer);
    found.chosen = find(now, spec.name);
    const bool is_chosen = found.chosen && spec.matches(*found.chosen);
    if (is_chosen && spec.extras.empty()) return found;

    auto with_it = problem;
    const auto index = with_it.request.specs.size();
    // What is in question is settled last.
    if (with_it.request.named == 0) with_it.request.named = index;
    with_it.request.specs.push_back(spec);
    lift_floors(with_it.request);
    GPKG_TRY(auto answered_with_it, gpkg::answer(with_it, solve));
    if (auto* explanation = std::get_if<Explanation>(&answered_with_it.outcome)) {
        if (is_unknown(*explanation, index)) {
            found.verdict = Verdict::Unknown;
            found.explanation = std::move(*explanation);
        } else {
            found.verdict = Verdict::Impossible;
            found.explanation = about_question(std::move(*explanation), index);
        }
        return found;
    }
    const auto& other = std::get<Solution>(answered_with_it.outcome);
    const auto then = by_name(problem, other);
    found.possible = find(then, spec.name);
    auto names = answer.settled;
    for (const auto& [name, record] : then) {
        if (!now.contains(name)) names.push_back(name);
    }
    for (const auto& name : names) {
        auto difference = WhyNot::Difference{find(now, name), find(then, name)};
        if (!is_same(difference.now, difference.then))
            found.differences.push_back(std::move(difference));
    }

    const auto settled = settled_before(problem, spec.name, answer, other, now, then);
    if (is_chosen && found.differences.empty()) {
        found.verdict = Verdict::Chosen;  // with all that its extras add
    } else if (!found.chosen || (is_chosen && settled.empty())) {
        found.verdict = Verdict::Unneeded;
    } else if (settled.empty() || settled.first_other() == spec.name) {
        found.verdict = Verdict::LessGood;
        const auto lost = lost_with(problem.request, now, then);
        if (lost.empty()) {
            GPKG_TRY(found.reason, advantage(answered.problem, *found.chosen, *found.possible));
        } else {
            found.reason = fmt::format("keeps {}, which {} installed and would be removed",
                                       join_some(lost, "and"),
                                       lost.size() == 1 ? "is" : "are");
        }
    } else {
        found.verdict = Verdict::Outranked;
        // The accelerator is the answer's: what the spec does not go with is what was chosen.
        with_it = std::move(answered_with_it.problem);
        with_it.request.accelerators.all = answered.problem.request.accelerators.all;
        with_it.request.only_compiles = answered.problem.request.only_compiles;
        const std::span<const Told> all(kTold);
        for (const auto& told : settled.graded.empty() ? all.first(kWithoutBuilds) : all) {
            GPKG_TRY(found.explanation, chain(with_it, settled, now, index, told, solve));
            if (!found.explanation.clashes.empty()) break;
        }
        // Each by itself would do, and all together would not.
        if (found.explanation.clashes.empty()) {
            const auto& first = now.at(settled.first_other());
            found.verdict = Verdict::LessGood;
            found.reason =
                fmt::format("goes with {} {} {}", first.name, first.version, first.build);
        }
    }
    return found;
}

}  // namespace gpkg
