#include "cli/workflow/locking.hpp"

#include "cli/workflow/accelerators.hpp"
#include "cli/workflow/unsatisfiable.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace gpkg::cli {
namespace {

/// Lines of a reason: the rest is what `gpkg solve --for CLASS` tells.
constexpr std::size_t kMostLines = 4;

const PackageRecord* find(const Solution& solution, std::string_view name) {
    const auto found = std::find_if(solution.records.begin(),
                                    solution.records.end(),
                                    [&](const auto& one) { return one.name == name; });
    return found == solution.records.end() ? nullptr : &*found;
}

std::string first_lines(const std::string& text) {
    const auto lines = split(text, '\n');
    std::string first;
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
        first += (i == 0 ? "" : "\n") + std::string(lines[i]);
    return lines.size() > kMostLines ? first + "\n..." : first;
}

/// Brings the classes' answers to the same versions, package by package in the order in which the
/// first class settles them. What is higher somewhere comes down: the lowest is what all could
/// have.
class Aligning {
public:
    Aligning(std::vector<ClassQuestion>& classes, std::vector<Solution>& answers)
        : classes_(classes), answers_(answers) {}

    Result<std::vector<Divergence>> run() && {
        while (const auto name = next()) {
            GPKG_CHECK(align(*name));
        }
        std::vector<Divergence> left;
        for (auto& [name, divergence] : divergent_) {
            divergence.versions = versions(name);
            if (is_divergent(name)) left.push_back(std::move(divergence));
        }
        return left;
    }

private:
    std::map<std::string, std::string> versions(const std::string& name) const {
        std::map<std::string, std::string> versions;
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            if (const auto* record = find(answers_[i], name))
                versions[classes_[i].name] = record->version;
        }
        return versions;
    }

    bool is_divergent(const std::string& name) const {
        std::set<std::string> different;
        for (const auto& [of, version] : versions(name)) different.insert(version);
        return different.size() > 1;
    }

    /// The first name whose versions differ and that was not tried.
    std::optional<std::string> next() const {
        for (const auto& answer : answers_) {
            for (const auto& name : answer.settled) {
                if (!divergent_.contains(name) && is_divergent(name)) return name;
            }
        }
        return std::nullopt;
    }

    std::optional<Version> lowest(const std::string& name) const {
        std::optional<Version> lowest;
        for (const auto& answer : answers_) {
            const auto* record = find(answer, name);
            if (record == nullptr) continue;
            auto version = version_of(*record);
            if (version && (!lowest || *version < *lowest)) lowest = *std::move(version);
        }
        return lowest;
    }

    /// All classes get the lowest version, or none is changed.
    Result<void> align(const std::string& name) {
        const auto target = lowest(name);
        if (!target) return give_up(name, "", "its version cannot be read");
        Constraint same;
        same.spec.name = name;
        same.spec.version = VersionSpec::equal_to(*target);
        same.reason = "is what all classes of the lock could have";
        std::vector<Solution> aligned;
        for (auto& one : classes_) {
            auto question = one.question;
            question.problem.request.constraints.push_back(same);
            GPKG_TRY(auto outcome, answer_to(question));
            if (const auto* explanation = std::get_if<Explanation>(&outcome))
                return give_up(name, one.name, first_lines(explanation->tree()));
            aligned.push_back(std::get<Solution>(std::move(outcome)));
        }
        for (auto& one : classes_) one.question.problem.request.constraints.push_back(same);
        answers_ = std::move(aligned);
        return {};
    }

    Result<void> give_up(const std::string& name, std::string of, std::string reason) {
        divergent_[name] = {name, {}, std::move(of), std::move(reason)};
        return {};
    }

    std::vector<ClassQuestion>& classes_;
    std::vector<Solution>& answers_;
    std::map<std::string, Divergence> divergent_;
};

Result<Solution> first_answer(Context& context, ClassQuestion& one) {
    GPKG_CHECK(settle_vendor(context, one.question));
    GPKG_TRY(auto outcome, answer_to(one.question));
    GPKG_CHECK(check_stop(context));
    if (const auto* explanation = std::get_if<Explanation>(&outcome))
        return pass(unsatisfiable(context, one.question, *explanation)
                        .while_doing(fmt::format("for {}", one.name)));
    return std::get<Solution>(std::move(outcome));
}

Result<LockFile> lock_of(const std::vector<ClassQuestion>& classes,
                         const std::vector<Solution>& answers) {
    LockFile lock;
    for (const auto& channel : classes.front().question.channels)
        lock.channels.push_back({channel.base_url(), {}});
    PackageAdder adder(lock);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const auto& question = classes[i].question;
        LockedClass locked;
        locked.name = classes[i].name;
        locked.platform = question.machine.platform;
        locked.needs = least_needs(answers[i].records);
        for (const auto& record : question.problem.virtual_packages)
            locked.made_for.push_back({record.name, record.version, record.build});
        for (const auto& record : answers[i].records) {
            GPKG_TRY(const auto place, adder.add({record, {}}));
            locked.packages.push_back(place);
        }
        lock.classes.push_back(std::move(locked));
    }
    return lock;
}

/// The least version of a spec that is nothing but a lower bound.
std::optional<Version> lower_bound(const MatchSpec& spec) {
    if (!spec.version || spec.build) return std::nullopt;
    const auto literals = spec.version->literals();
    const bool is_bound = literals.size() == 1 && spec.version->to_string().starts_with(">=");
    return is_bound ? std::optional(literals.front()) : std::nullopt;
}

}  // namespace

std::vector<std::string> least_needs(const std::vector<PackageRecord>& records) {
    std::map<std::string, std::pair<Version, std::string>> bounds;
    std::set<std::string> bare;
    std::set<std::string> needs;
    for (const auto& record : records) {
        for (const auto& text : record.depends) {
            if (!text.starts_with("__")) continue;
            const auto spec = MatchSpec::parse(text);
            if (!spec || spec->when) {
                needs.insert(text);
            } else if (const auto bound = lower_bound(*spec)) {
                const auto [known, is_new] = bounds.try_emplace(spec->name, *bound, written(*spec));
                if (!is_new && known->second.first < *bound)
                    known->second = {*bound, written(*spec)};
            } else if (!spec->version && !spec->build) {
                bare.insert(spec->name);
            } else {
                needs.insert(written(*spec));
            }
        }
    }
    for (const auto& [name, bound] : bounds) needs.insert(bound.second);
    for (const auto& name : bare) {
        const bool is_said = std::any_of(needs.begin(), needs.end(), [&](const auto& spec) {
            return name_in_spec(spec) == name;
        });
        if (!is_said) needs.insert(name);
    }
    return {needs.begin(), needs.end()};
}

Result<LockedClasses> lock_classes(Context& context, std::vector<ClassQuestion> classes) {
    LockedClasses locked;
    std::vector<Solution> answers;
    for (auto& one : classes) {
        GPKG_TRY(answers.emplace_back(), first_answer(context, one));
    }
    GPKG_TRY(locked.divergences, Aligning(classes, answers).run());
    GPKG_CHECK(check_stop(context));
    for (std::size_t i = 0; i < classes.size(); ++i)
        locked.notes[classes[i].name] = answers[i].notes;
    GPKG_TRY(locked.lock, lock_of(classes, answers));
    return locked;
}

}  // namespace gpkg::cli
