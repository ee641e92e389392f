#include "libcore/classes/aligning.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/solve/answer.hpp"
#include "libcore/spec/record_graph.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace gpkg {
namespace {

/// Lines of a reason: the rest is what `gpkg solve --for CLASS` tells.
constexpr std::size_t kMostLines = 4;

std::string first_lines(const std::string& text) {
    const auto lines = split(text, '\n');
    std::string first;
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
        first += (i == 0 ? "" : "\n") + std::string(lines[i]);
    return lines.size() > kMostLines ? first + "\n..." : first;
}

class Aligning {
public:
    Aligning(std::vector<ClassProblem>& classes, std::vector<Solution>& answers, const Solve& solve)
        : classes_(classes), answers_(answers), solve_(solve) {
        order();
    }

    Result<std::vector<Divergence>> run() && {
        while (const auto name = next()) {
            tried_.insert(*name);
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
            if (const auto* record = find_record(answers_[i].records, name))
                versions[classes_[i].name] = record->version;
        }
        return versions;
    }

    /// 1.0 and 1.0.0 are one version (CEP 33).
    bool is_divergent(const std::string& name) const {
        std::optional<Version> first;
        for (const auto& answer : answers_) {
            const auto* record = find_record(answer.records, name);
            if (record == nullptr) continue;
            const auto version = version_of(*record);
            if (!version) continue;
            if (!first) first = *version;
            if (*version != *first) return true;
        }
        return false;
    }

    /// The names of each class, what matters more before what matters less.
    void order() {
        std::map<std::string, std::size_t> classes_with;
        for (const auto& answer : answers_) {
            for (const auto& name : answer.settled) ++classes_with[name];
        }
        orders_.clear();
        std::map<std::string, std::size_t> leading;
        for (const auto& name : leading_names(classes_)) leading.emplace(name, leading.size());
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            const auto rank = [&](const std::string& name) {
                if (const auto found = leading.find(name); found != leading.end())
                    return found->second;
                return leading.size() + (classes_with[name] == answers_.size() ? 0 : 1);
            };
            auto& names = orders_.emplace_back(answers_[i].settled);
            std::ranges::stable_sort(names, {}, rank);
        }
    }

    /// The first name whose versions differ and that was not tried.
    std::optional<std::string> next() const {
        for (std::size_t i = 0; i < answers_.size(); ++i) {
            for (const auto& name : orders_[i]) {
                if (!tried_.contains(name) && is_divergent(name)) return name;
            }
        }
        return std::nullopt;
    }

    /// The versions that answers have, the lowest first.
    static std::set<Version> versions_in(const std::vector<Solution>& answers,
                                         const std::string& name) {
        std::set<Version> versions;
        for (const auto& answer : answers) {
            if (auto version = find_version(answer.records, name))
                versions.insert(*std::move(version));
        }
        return versions;
    }

    /// All classes get one version, the highest that they share, or none is changed.
    Result<void> align(const std::string& name) {
        const auto versions = versions_in(answers_, name);
        if (versions.empty()) return give_up(name, "", "its version cannot be read");
        // A class may have an older version than it could for the sake of a better build.
        std::optional<Refusal> refusal;
        auto refused = *versions.rbegin();
        for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
            GPKG_TRY(auto trial, try_with(name, VersionSpec::equal_to(*version)));
            if (trial.answers) return accept(name, *version, *std::move(trial.answers));
            // Why what is locked cannot be had elsewhere tells more than that it is locked.
            if (refusal && !refusal->is_locked && trial.refusal.is_locked) continue;
            refusal = std::move(trial.refusal);
            refused = *version;
        }
        GPKG_TRY(const bool is_aligned, align_below(name, *versions.begin()));
        if (is_aligned) return {};
        GPKG_TRY(auto reason, reason_of(*refusal, name, refused));
        return give_up(name, classes_[refusal->by].name, std::move(reason));
    }

    /// How far down each class has to go is the next bound; where all meet is the highest version
    /// for all. Where a class would lose by what it comes to, that is passed by, a few times: each
    /// is a solve for every class.
    Result<bool> align_below(const std::string& name, const Version& lowest) {
        constexpr int kMostPassedBy = 8;
        auto bound = lowest;
        std::string_view relation = "<=";
        for (int passed_by = 0; passed_by <= kMostPassedBy;) {
            GPKG_TRY(const auto below,
                     VersionSpec::parse(fmt::format("{}{}", relation, bound.to_string())));
            GPKG_TRY(auto trial, try_with(name, below));
            if (!trial.answers) {
                if (!trial.refusal.at) return false;
                bound = *trial.refusal.at;
                relation = "<";
                ++passed_by;
                continue;
            }
            const auto next = versions_in(*trial.answers, name);
            if (next.empty()) return false;
            if (next.size() == 1) {
                GPKG_CHECK(accept(name, *next.begin(), *std::move(trial.answers)));
                return true;
            }
            bound = *next.begin();
            relation = "<=";
        }
        return false;
    }

    /// Why a class cannot have a version.
    struct Refusal {
        std::size_t by = 0;
        std::string lost{};      ///< what it would have to give up; empty: it has no answer
        bool is_locked = false;  ///< it has it in the lock, and nobody named it
        /// The version with which it would lose that.
        std::optional<Version> at{};
    };
    struct Trial {
        std::optional<std::vector<Solution>> answers;
        Refusal refusal{};  ///< of the first class that has none
    };

    /// The answers when `name` has such a version in all classes.
    Result<Trial> try_with(const std::string& name, const VersionSpec& version) {
        std::vector<Solution> answers;
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            // The best answer stays the best where more is asked that it meets.
            if (has(answers_[i], name, version)) {
                answers.push_back(answers_[i]);
                continue;
            }
            if (classes_[i].held.contains(name))
                return Trial{std::nullopt,
                             {i, "keeps its locked version because it was not named", true}};
            auto problem = problem_with(name, version, i);
            problem.wants_reasons = false;
            GPKG_TRY(auto answered, answer(problem, solve_));
            auto* solution = std::get_if<Solution>(&answered.outcome);
            if (solution == nullptr) return Trial{std::nullopt, {i}};
            auto lost = lost_code(i, *solution);
            if (!lost) lost = lost_kind(i, *solution);
            if (!lost) lost = lost_builds(i, name, *solution);
            if (lost)
                return Trial{std::nullopt,
                             {i, *std::move(lost), false, find_version(solution->records, name)}};
            answers.push_back(std::move(*solution));
        }
        return Trial{std::move(answers)};
    }

    /// Also where the package is not there.
    static bool has(const Solution& answer, const std::string& name, const VersionSpec& wanted) {
        const auto* record = find_record(answer.records, name);
        if (record == nullptr) return true;
        const auto version = version_of(*record);
        return version && wanted.matches(*version);
    }

    Problem problem_with(const std::string& name,
                         const VersionSpec& version,
                         std::size_t place) const {
        auto problem = classes_[place].problem;
        problem.wants_fixes = false;
        hold_accelerators(answers_[place], problem);
        auto& constraints = problem.request.constraints;
        // What was possible by itself, as that an update takes no version from what it names, is
        // not given up for what others have.
        for (auto& constraint : constraints) {
            if (constraint.holds == Constraint::Holds::WherePossible)
                constraint.holds = Constraint::Holds::Always;
        }
        hold_what_matters_more(name, place, constraints);
        constraints.push_back(held(name, version, "is tried for all classes of the lock"));
        return problem;
    }

    Result<std::string> reason_of(const Refusal& refusal,
                                  const std::string& name,
                                  const Version& version) const {
        if (!refusal.lost.empty()) return refusal.lost;
        if (auto need = need_against(refusal.by, name, version)) return *std::move(need);
        GPKG_TRY(auto lost, lost_accelerator(refusal.by, name, version));
        if (!lost.empty()) return lost;
        const auto problem = problem_with(name, VersionSpec::equal_to(version), refusal.by);
        GPKG_TRY(const auto answered, answer(problem, solve_));
        const auto* explanation = std::get_if<Explanation>(&answered.outcome);
        return explanation == nullptr ? std::string() : first_lines(explanation->tree());
    }

    /// What would no longer be for the class' GPU, where there is an answer at that price.
    Result<std::string> lost_accelerator(std::size_t place,
                                         const std::string& name,
                                         const Version& version) const {
        auto problem = problem_with(name, VersionSpec::equal_to(version), place);
        problem.request.accelerators = classes_[place].problem.request.accelerators;
        problem.wants_reasons = false;
        problem.wants_notes = false;
        GPKG_TRY(const auto answered, answer(problem, solve_));
        const auto* other = std::get_if<Solution>(&answered.outcome);
        if (other == nullptr) return std::string();
        for (const auto& present : answers_[place].records) {
            const auto of = accelerator_of(present).accelerator;
            const auto* record = find_record(other->records, present.name);
            if (!has_vendor(problem.virtual_packages, of) || record == nullptr ||
                accelerator_of(*record).accelerator == of)
                continue;
            return fmt::format("with it, {} would be {}, which has no {} build",
                               record->name,
                               record->version,
                               to_string(of));
        }
        return std::string();
    }

    /// Where what matters more needs another version, that is all there is to say: "libtorch 2.12.0
    /// needs cuda-version >=12.9,<13".
    std::optional<std::string> need_against(std::size_t place,
                                            const std::string& name,
                                            const Version& version) const {
        for (const auto& other : orders_[place]) {
            if (other == name) break;
            const auto* record = find_record(answers_[place].records, other);
            if (record == nullptr) continue;
            for (const auto& text : record->depends) {
                if (name_in_spec(text) != name) continue;
                const auto spec = MatchSpec::parse(text);
                if (spec && !spec->when && spec->version && !spec->version->matches(version))
                    return fmt::format(
                        "{} {} needs {}", record->name, record->version, written(*spec));
            }
        }
        return std::nullopt;
    }

    /// No class gives up a build for its GPU to have what others have. One for a GPU that it does
    /// not have is what its version came in.
    static void hold_accelerators(const Solution& answer, Problem& problem) {
        auto& held = problem.request.accelerators.of_package;
        for (const auto& record : answer.records) {
            const auto of = accelerator_of(record).accelerator;
            if (has_vendor(problem.virtual_packages, of))
                held.emplace(record.name, row_of(of).choice);
        }
    }

    /// Of another answer for a class, what has no machine code for its GPUs where the present one
    /// has: the same version is not worth that.
    std::optional<std::string> lost_code(std::size_t place, const Solution& other) const {
        const CudaLimits limits(classes_[place].problem.virtual_packages);
        const auto lack_of = [&](const PackageRecord& record) {
            auto lack = limits.obstacle_of(record);
            return lack || accelerator_of(record).accelerator != Accelerator::Nvidia
                       ? lack
                       : limits.caution_of(record);
        };
        for (const auto& record : other.records) {
            const auto* present = find_record(answers_[place].records, record.name);
            if (present == nullptr || present->fn == record.fn) continue;
            if (const auto lack = lack_of(record); lack && !lack_of(*present))
                return fmt::format("{} {} {}", record.name, record.version, *lack);
        }
        return std::nullopt;
    }

    /// What another answer has of a kind that the class would not choose over what it has, however
    /// new: for a GPU that is not there, with track_features, of a channel that comes later.
    std::optional<std::string> lost_kind(std::size_t place, const Solution& other) const {
        const auto& problem = classes_[place].problem;
        for (const auto& record : other.records) {
            const auto* present = find_record(answers_[place].records, record.name);
            if (present == nullptr || present->fn == record.fn) continue;
            const auto of = accelerator_of(record).accelerator;
            const bool is_for_none = of == Accelerator::None;
            const bool is_here = has_vendor(problem.virtual_packages, of);
            if (!is_for_none && !is_here && accelerator_of(*present).accelerator != of)
                return fmt::format("{} {} is built for {}, which {} does not have",
                                   record.name,
                                   record.version,
                                   to_string(of),
                                   classes_[place].name);
            if (!is_here && present->track_features.empty() && !record.track_features.empty())
                return fmt::format(
                    "{} {} has low priority (track_features)", record.name, record.version);
            if (problem.priority == ChannelPriority::Flexible &&
                channel_place(problem, *present) < channel_place(problem, record))
                return fmt::format("{} {} is from a channel of lower priority than that of {}",
                                   record.name,
                                   record.version,
                                   present->version);
        }
        return std::nullopt;
    }

    static std::size_t channel_place(const Problem& problem, const PackageRecord& record) {
        const auto found = std::ranges::find_if(problem.indexes, [&](const auto& index) {
            return index->source().channel == record.channel;
        });
        return static_cast<std::size_t>(found - problem.indexes.begin());
    }

    /// What is asked for and would bring no build for the class' GPU any more, where it does now:
    /// less is what a version brings that goes without the package of which there is such a build.
    std::optional<std::string> lost_builds(std::size_t place,
                                           const std::string& name,
                                           const Solution& other) const {
        const auto& problem = classes_[place].problem;
        const auto& specs = problem.request.specs;
        const RecordGraph before(answers_[place].records, specs);
        const RecordGraph after(other.records, specs);
        for (const auto& spec : specs) {
            const auto now = vendors_behind(spec.name, after);
            for (const auto vendor : vendors_behind(spec.name, before)) {
                if (now.contains(vendor) || !has_vendor(problem.virtual_packages, vendor)) continue;
                const auto* record = find_record(other.records, name);
                return fmt::format(
                    "{} would have no build for {}{}",
                    spec.name,
                    to_string(vendor),
                    record == nullptr ? "" : fmt::format(", with {} {}", name, record->version));
            }
        }
        return std::nullopt;
    }

    /// For whose GPUs a package is, or what it needs, directly or not.
    static std::set<Accelerator> vendors_behind(const std::string& name, const RecordGraph& graph) {
        const auto place = graph.find(name);
        if (!place) return {};
        std::vector<bool> start(graph.records().size());
        start[*place] = true;
        const auto all = graph.all_needed_by(std::move(start));
        std::set<Accelerator> vendors;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i]) vendors.insert(accelerator_of(graph.records()[i]).accelerator);
        }
        vendors.erase(Accelerator::None);
        return vendors;
    }

    /// Nothing that matters more gets older for the sake of something that matters less.
    void hold_what_matters_more(const std::string& name,
                                std::size_t place,
                                std::vector<Constraint>& constraints) const {
        for (const auto& other : orders_[place]) {
            if (other == name) return;
            const auto* record = find_record(answers_[place].records, other);
            if (record == nullptr) continue;
            if (auto version = version_of(*record))
                constraints.push_back(
                    held(other, VersionSpec::equal_to(*std::move(version)), "takes precedence"));
        }
    }

    static Constraint held(const std::string& name, VersionSpec version, std::string reason) {
        Constraint held;
        held.spec.name = name;
        held.spec.version = std::move(version);
        held.reason = std::move(reason);
        return held;
    }

    Result<void> accept(const std::string& name,
                        const Version& version,
                        std::vector<Solution> answers) {
        for (auto& one : classes_)
            one.problem.request.constraints.push_back(held(
                name, VersionSpec::equal_to(version), "is the version of all classes of the lock"));
        answers_ = std::move(answers);
        order();
        return {};
    }

    Result<void> give_up(const std::string& name, std::string of, std::string reason) {
        divergent_[name] = {name, {}, std::move(of), std::move(reason)};
        return {};
    }

    std::vector<ClassProblem>& classes_;
    std::vector<Solution>& answers_;
    const Solve& solve_;
    std::vector<std::vector<std::string>> orders_;  ///< by class, of the answers as they are
    std::set<std::string> tried_;
    std::map<std::string, Divergence> divergent_;
};

}  // namespace

std::vector<std::string> leading_names(const std::vector<ClassProblem>& classes) {
    std::map<std::string, std::size_t> places;  // the first in any class
    for (const auto& one : classes) {
        const auto& specs = one.problem.request.specs;
        for (std::size_t i = 0; i < specs.size(); ++i) {
            if (!specs[i].has_one_name()) continue;
            auto& place = places.try_emplace(specs[i].name, i).first->second;
            place = std::min(place, i);
        }
    }
    std::vector<std::string> names;
    names.reserve(places.size() + 1);
    for (const auto& [name, place] : places) names.push_back(name);
    std::ranges::stable_sort(names, {}, [&](const auto& name) { return places.at(name); });
    if (!places.contains("python")) names.emplace_back("python");
    return names;
}

Result<std::vector<Divergence>> align_versions(std::vector<ClassProblem>& classes,
                                               std::vector<Solution>& answers,
                                               const Solve& solve) {
    return Aligning(classes, answers, solve).run();
}

}  // namespace gpkg
