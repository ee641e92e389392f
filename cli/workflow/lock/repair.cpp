#include "cli/workflow/lock/repair.hpp"

#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/lock/locked_sources.hpp"
#include "cli/workflow/lock/request.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_flaws.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "solver/solver.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

std::set<std::string> platforms_of(const LockFile& lock) {
    std::set<std::string> platforms;
    for (const auto& locked : lock.classes) platforms.insert(locked.platform);
    return platforms;
}

/// What a class asks, and what it has that its machine cannot use, by what the channel says of it
/// now: of that, its version alone is kept.
struct ClassToRepair {
    AskedClass asked;
    std::vector<PackageRecord> unfit;
};

/// Everything that the lock says of a class, as a question whose answer it still is as far as its
/// packages are there. Nothing of it may have another version yet.
Result<ClassToRepair> asked_by(Context& context,
                               const LockFile& lock,
                               const LockedClass& locked,
                               const std::set<std::size_t>& gone,
                               const SourceOptions& options) {
    if (locked.made_for.empty())
        return fail(ErrorKind::Unsupported,
                    fmt::format("the lock does not record the machine of class {}", locked.name),
                    "to write a lock that does: gpkg lock -f FILE");
    ClassToRepair found;
    auto& asked = found.asked;
    asked.name = locked.name;
    asked.request = lock.request;
    asked.request.wishes = lock.wishes_of(locked);
    GPKG_TRY(const auto wanted, wanted_by(lock, locked));
    const auto records = lock.records_of(locked);
    GPKG_TRY(const auto channels, channels_of(context, lock, options));
    GPKG_TRY(
        const auto sources,
        open_sources(context, seen_of(locked), channels, options, names_in(wanted.specs, records)));
    auto& question = asked.question;
    question = question_on(context, sources);
    question.wanted = static_cast<const Wanted&>(wanted);
    auto& problem = question.problem;
    problem.wants_fixes = false;
    auto& request = problem.request;
    request.accelerators = accelerators_of(question.wanted.accelerators, {});
    request.specs = question.wanted.specs;
    request.of_what = "the lock";
    for (std::size_t i = 0; i < records.size(); ++i) {
        GPKG_TRY(const auto now, of_channel(records[i], sources.indexes));
        const bool fits = unmet_needs(now.record ? *now.record : records[i],
                                      problem.virtual_packages,
                                      DriverBounds::Ignore)
                              .empty();
        const bool is_gone = gone.contains(locked.packages[i]);
        auto& list = !fits ? found.unfit : is_gone ? request.gone : request.installed;
        list.push_back(records[i]);
        // Nobody says what was asked for: all of it.
        if (asked.request.wishes.specs.empty()) request.specs.emplace_back().name = records[i].name;
    }
    return found;
}

/// The question where packages of these names may have another version, and none besides.
Result<AskedClass> freeing(ClassToRepair found, const std::set<std::string>& names) {
    auto& asked = found.asked;
    auto& request = asked.question.problem.request;
    for (const auto* records : {&request.installed, &request.gone, &found.unfit}) {
        for (const auto& record : *records) {
            if (are_naming(names, record.name)) {
                request.update.push_back(record.name);
                continue;
            }
            GPKG_TRY(auto same, same_version(record, std::string(kIsInLock)));
            request.constraints.push_back(std::move(same));
        }
    }
    return std::move(asked);
}

/// How often a hint lets more have another version, where what is gone alone does not help, and how
/// many of those it then tries to leave out. Each is a solve.
constexpr int kMostWider = 5;
constexpr std::size_t kMostLeftOut = 10;

/// One lock to repair, class by class.
class Repairing {
public:
    Repairing(Context& context,
              const LockFile& lock,
              const std::vector<GonePackage>& gone,
              const RepairOptions& options)
        : context_(context),
          lock_(lock),
          options_(options),
          sources_(as_locked(lock, options.sources)) {
        for (const auto& one : gone) gone_.insert(one.place);
    }

    struct Repaired {
        AskedClass asked;
        Solution answer;
    };

    Result<Repaired> repair(const LockedClass& locked) {
        GPKG_TRY(auto one, asked_with(locked, options_.free));
        GPKG_TRY(auto outcome, answer_to(one.question));
        GPKG_CHECK(check_stop(context_));
        if (const auto* explanation = std::get_if<Explanation>(&outcome)) {
            GPKG_TRY(auto hint, hint_for(locked, *explanation));
            return pass(Error{ErrorKind::Unsatisfiable,
                              fmt::format("class {} cannot be solved with these versions:\n{}",
                                          locked.name,
                                          explanation->tree()),
                              std::move(hint),
                              {}});
        }
        return Repaired{std::move(one), std::get<Solution>(std::move(outcome))};
    }

private:
    using Names = std::set<std::string>;

    /// What a class asks where packages of these names may have another version. Its channels are
    /// opened once.
    Result<AskedClass> asked_with(const LockedClass& locked, const Names& names) {
        auto known = asked_.find(&locked);
        if (known == asked_.end()) {
            GPKG_TRY(auto asked, asked_by(context_, lock_, locked, gone_, sources_));
            known = asked_.emplace(&locked, std::move(asked)).first;
        }
        GPKG_TRY(auto one, freeing(known->second, names));
        GPKG_CHECK(settle_vendor(context_, one.question));
        return one;
    }

    /// Nothing where the class has an answer with these names free, besides those that are.
    Result<std::optional<Explanation>> clash_with(const LockedClass& locked, const Names& names) {
        GPKG_TRY(auto one, asked_with(locked, names));
        GPKG_TRY(auto outcome, answer_to(one.question));
        GPKG_CHECK(check_stop(context_));
        if (auto* explanation = std::get_if<Explanation>(&outcome))
            return std::optional(std::move(*explanation));
        return std::optional<Explanation>();
    }

    /// The command that works for the class, and for all others.
    Result<std::string> hint_for(const LockedClass& locked, const Explanation& first) {
        GPKG_TRY(auto names, wider(locked, options_.free, first));
        if (names.empty()) return nothing_does_for(locked);
        for (const auto* other : lock_.default_classes()) {
            if (other == &locked) continue;
            GPKG_TRY(const auto clash, clash_with(*other, names));
            if (!clash) continue;
            GPKG_TRY(names, wider(*other, names, *clash));
            if (names.empty()) return nothing_does_for(*other);
        }
        return command_with(names);
    }

    static std::string nothing_does_for(const LockedClass& locked) {
        return fmt::format(
            "no other versions work for class {} either; change the request or leave out the "
            "class: gpkg lock -f FILE",
            locked.name);
    }

    /// The names with which the class has an answer, `free` among them: with one of what is gone
    /// having another version, else with the fewest of what clashes, and of what then keeps those
    /// from one. Empty where it has none.
    Result<Names> wider(const LockedClass& locked, const Names& free, const Explanation& first) {
        const auto gone = gone_names(locked);
        auto names = held_in(first);
        for (const auto& name : names) {
            if (!gone.contains(name)) continue;
            auto one = free;
            one.insert(name);
            GPKG_TRY(const auto clash, clash_with(locked, one));
            if (!clash) return one;
        }
        names.insert(free.begin(), free.end());
        for (int more = 0; more <= kMostWider; ++more) {
            GPKG_TRY(const auto clash, clash_with(locked, names));
            if (!clash) return fewest(locked, free, std::move(names));
            const auto before = names.size();
            names.merge(held_in(*clash));
            if (names.size() == before) names.insert(gone.begin(), gone.end());
            if (names.size() == before) break;
        }
        return Names();
    }

    /// Of names that work, without those that are not needed for it: what was asked for keeps its
    /// version before anything else does.
    Result<Names> fewest(const LockedClass& locked, const Names& free, Names names) {
        if (names.contains("python") && !free.contains("python_abi")) names.erase("python_abi");
        std::vector<std::string> order;
        std::ranges::copy_if(names, std::back_inserter(order), [&](const auto& name) {
            return !free.contains(name);
        });
        std::stable_partition(
            order.begin(), order.end(), [&](const auto& name) { return is_asked(locked, name); });
        order.resize(std::min(order.size(), kMostLeftOut));
        for (const auto& name : order) {
            if (names.size() == 1) break;
            auto fewer = names;
            fewer.erase(name);
            GPKG_TRY(const auto clash, clash_with(locked, fewer));
            if (!clash) names = std::move(fewer);
        }
        return names;
    }

    /// The user's own, with these names beside those in it.
    std::string command_with(const Names& names) const {
        auto words = context_.arguments;
        words.front() = "gpkg";
        std::ranges::copy_if(names, std::back_inserter(words), [&](const auto& name) {
            return !options_.free.contains(name);
        });
        return shell_words(words) + "  # allows other versions";
    }

    bool is_asked(const LockedClass& locked, const std::string& name) const {
        const auto& specs = lock_.wishes_of(locked).specs;
        return std::ranges::any_of(specs,
                                   [&](const auto& spec) { return name_in_spec(spec) == name; });
    }

    Names gone_names(const LockedClass& locked) const {
        Names names;
        for (const auto place : locked.packages) {
            if (gone_.contains(place)) names.insert(lock_.packages[place].record.name);
        }
        return names;
    }

    /// What the lock holds of what clashes.
    static Names held_in(const Explanation& explanation) {
        Names names;
        for (const auto& clash : explanation.clashes) {
            for (const auto& line : clash.lines) {
                if (line.kind == ExplanationLine::Kind::Pin) names.insert(line.name);
            }
        }
        return names;
    }

    Context& context_;
    const LockFile& lock_;
    const RepairOptions& options_;
    const SourceOptions sources_;
    std::set<std::size_t> gone_;  ///< places
    std::map<const LockedClass*, ClassToRepair> asked_;
};

/// What the old lock says beside the packages of its default environment.
Result<void> take_over(const LockFile& old, LockFile& lock) {
    lock.channels = old.channels;
    lock.request = old.request;
    lock.environments = old.environments;
    lock.foreign = old.foreign;
    lock.tool = old.tool;
    lock.kept = old.kept;
    for (auto& locked : lock.classes) {
        if (const auto* before = old.find_class(locked.name)) {
            locked.wishes = before->wishes;
            locked.also_made_for = before->also_made_for;
            locked.foreign = before->foreign;
        }
    }
    PackageAdder adder(lock);
    for (const auto& locked : old.classes) {
        if (locked.environment == kDefaultEnvironment) continue;
        auto other = locked;
        for (auto& place : other.packages) {
            GPKG_TRY(place, adder.add(old.packages[place]));
        }
        lock.classes.push_back(std::move(other));
    }
    return {};
}

}  // namespace

Result<std::vector<GonePackage>> gone_packages(Context& context,
                                               const LockFile& lock,
                                               const SourceOptions& sources) {
    std::set<std::string> name_set;
    for (const auto& package : lock.packages) name_set.insert(package.record.name);
    const std::vector<std::string> names(name_set.begin(), name_set.end());
    std::vector<SharedIndex> indexes;
    GPKG_TRY(const auto channels, channels_of(context, lock, sources));
    for (const auto& platform : platforms_of(lock)) {
        GPKG_TRY(const auto fetched,
                 Channels::fetch(
                     context, channels, subdirs_for(platform), sources.offline, Extent::Named));
        if (const auto urls = fetched.unanswered(); !urls.empty())
            return fail(
                ErrorKind::Network,
                fmt::format(
                    "cannot check whether the locked packages are available: no response from {}",
                    join_some(urls, "and")),
                "if a channel needs a login, add it to credentials.yaml; --offline uses the cached "
                "indexes");
        GPKG_TRY(const auto opened, fetched.look_up(names));
        indexes.insert(indexes.end(), opened.begin(), opened.end());
    }
    std::vector<GonePackage> gone;
    for (std::size_t place = 0; place < lock.packages.size(); ++place) {
        GPKG_TRY(auto now, of_channel(lock.packages[place].record, indexes));
        if (!now.record) gone.push_back({place, std::move(now.why_gone)});
    }
    return gone;
}

Result<LockedClasses> repair(Context& context,
                             const LockFile& lock,
                             const std::vector<GonePackage>& gone,
                             const RepairOptions& options) {
    if (is_edited(lock))
        return fail(
            ErrorKind::Conflict, std::string(kEdited), "to solve from scratch: gpkg lock -f FILE");
    GPKG_CHECK(check_has(lock, options.free));
    if (gone.empty() && options.free.empty() && !flaw_in(lock))
        return LockedClasses{lock, {}, {}, {}};
    Repairing repairing(context, lock, gone, options);
    std::vector<ClassProblem> classes;
    std::vector<Solution> answers;
    for (const auto* locked : lock.default_classes()) {
        GPKG_TRY(auto one, repairing.repair(*locked));
        answers.push_back(std::move(one.answer));
        GPKG_TRY(auto problem, problem_of(std::move(one.asked)));
        for (const auto& record : lock.records_of(*locked)) {
            if (!are_naming(options.free, record.name)) problem.held.insert(record.name);
        }
        classes.push_back(std::move(problem));
    }
    if (classes.empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("the lock has no environment {}", kDefaultEnvironment));
    GPKG_TRY(auto repaired, align_answers(std::move(classes), std::move(answers), solver::solve));
    leave_out_known(repaired.divergences, lock);
    GPKG_CHECK(take_over(lock, repaired.lock));
    return repaired;
}

}  // namespace gpkg::cli
