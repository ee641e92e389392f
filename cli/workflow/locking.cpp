#include "cli/workflow/locking.hpp"

#include "cli/workflow/accelerators.hpp"
#include "cli/workflow/unsatisfiable.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
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

/// A spec that is nothing but a range: ">=2.17,<3.0.a0", of which either end may be open.
struct Range {
    std::optional<Version> from;
    std::optional<Version> to;

    static std::optional<Range> of(const MatchSpec& spec) {
        MatchSpec rest;
        rest.name = spec.name;
        rest.version = spec.version;
        if (!(rest == spec)) return std::nullopt;
        Range range;
        if (!spec.version) return range;
        const auto text = spec.version->to_string();
        if (text.find_first_of("|()") != std::string::npos) return std::nullopt;
        for (const auto part : split(text, ',')) {
            const bool is_lower = part.starts_with(">=");
            const bool is_upper = part.starts_with('<') && !part.starts_with("<=");
            if (!is_lower && !is_upper) return std::nullopt;
            auto version = Version::parse(part.substr(is_lower ? 2 : 1));
            if (!version) return std::nullopt;
            (is_lower ? range.from : range.to) = *std::move(version);
        }
        return range;
    }

    /// Both: the higher start and the lower end.
    void take(const Range& other) {
        if (other.from && (!from || *from < *other.from)) from = other.from;
        if (other.to && (!to || *other.to < *to)) to = other.to;
    }

    std::string text(const std::string& name) const {
        std::vector<std::string> parts;
        if (from) parts.push_back(">=" + from->to_string());
        if (to) parts.push_back("<" + to->to_string());
        return parts.empty() ? name : fmt::format("{} {}", name, fmt::join(parts, ","));
    }
};

/// What is asked of one virtual package.
struct Need {
    Range range;
    std::set<std::string> others;  ///< specs that are no ranges, as they are
};

}  // namespace

std::vector<std::string> least_needs(const std::vector<PackageRecord>& records) {
    std::map<std::string, Need> needs;
    const auto take = [&](const std::string& text, bool only_known) {
        if (!text.starts_with("__")) return;
        const auto name = name_in_spec(text);
        if (only_known && !needs.contains(name)) return;
        const auto spec = MatchSpec::parse(text);
        const auto range = spec ? Range::of(*spec) : std::nullopt;
        if (range) {
            needs[name].range.take(*range);
        } else {
            needs[name].others.insert(text);
        }
    };
    for (const auto& record : records) {
        for (const auto& text : record.depends) take(text, false);
    }
    // What restricts a package of the machine counts where the machine has to have it.
    for (const auto& record : records) {
        for (const auto& text : record.constrains) take(text, true);
    }
    std::vector<std::string> texts;
    for (const auto& [name, need] : needs) {
        const bool is_bare = !need.range.from && !need.range.to;
        if (!is_bare || need.others.empty()) texts.push_back(need.range.text(name));
        texts.insert(texts.end(), need.others.begin(), need.others.end());
    }
    return texts;
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
