#include "libcore/classes/locked_classes.hpp"

#include "libcore/base/text.hpp"
#include "libcore/classes/aligning.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

using Versions = std::map<std::string, Version>;  ///< by name

Versions versions_of(const std::vector<std::string>& names, const Solution& answer) {
    Versions versions;
    for (const auto& name : names) {
        if (auto version = find_version(answer.records, name))
            versions.emplace(name, *std::move(version));
    }
    return versions;
}

/// What a class has in an older version than it would have alone, and for whose sake. `now` is what
/// each has.
std::vector<std::string> lowered(const std::vector<ClassProblem>& classes,
                                 const std::vector<Versions>& alone,
                                 std::size_t place,
                                 const std::vector<Versions>& now) {
    std::vector<std::string> notes;
    for (const auto& [name, version] : now[place]) {
        const auto before = alone[place].find(name);
        if (before == alone[place].end() || !(version < before->second)) continue;
        const auto is_holding = [&, name = name](const auto& one) {
            return one.held.contains(name);
        };
        if (std::ranges::any_of(classes, is_holding)) continue;  // as others have it in the lock
        const auto has_another = [&, name = name, version = version](const Versions& one) {
            const auto theirs = one.find(name);
            return theirs != one.end() && theirs->second != version;
        };
        if (std::ranges::any_of(now, has_another)) {
            notes.push_back(fmt::format(
                "{} {} instead of {}, which conflicts with the versions shared by all classes",
                name,
                version.to_string(),
                before->second.to_string()));
            continue;
        }
        std::vector<std::string> others;
        for (std::size_t i = 0; i < classes.size(); ++i) {
            const auto theirs = alone[i].find(name);
            if (theirs != alone[i].end() && !(version < theirs->second))
                others.push_back(classes[i].name);
        }
        notes.push_back(fmt::format(
            "{} {} instead of {}, so that all classes have the same version{}",
            name,
            version.to_string(),
            before->second.to_string(),
            others.empty()
                ? ""
                : fmt::format("; {} cannot have a newer one", join_some(others, "and"))));
    }
    return notes;
}

}  // namespace

std::vector<std::string> urls_of(const Solution& answer) {
    std::vector<std::string> urls;
    for (const auto& record : answer.records) urls.push_back(record.url);
    std::sort(urls.begin(), urls.end());
    return urls;
}

std::vector<std::string> needs_of(const Request& request, const Solution& answer) {
    std::vector<std::string> asked;
    for (const auto& spec : request.specs) asked.push_back(spec.to_string());
    return least_needs(answer.records, asked);
}

void hold_what_stayed(ClassProblem& one, const Solution& answer) {
    auto& request = one.problem.request;
    for (const auto& before : request.installed) {
        const auto* now = find_record(answer.records, before.name);
        if (now == nullptr || now->version != before.version || request.may_move(before.name))
            continue;
        auto same = same_version(before, std::string(kIsInLock));
        if (!same) continue;
        request.constraints.push_back(*std::move(same));
        one.held.insert(before.name);
    }
}

Result<LockedClasses> align_answers(std::vector<ClassProblem> classes,
                                    std::vector<Solution> answers,
                                    const Solve& solve) {
    LockedClasses locked;
    for (const auto& answer : answers)
        locked.each_alone.insert(
            locked.each_alone.end(), answer.records.begin(), answer.records.end());
    const auto leading = leading_names(classes);
    std::vector<Versions> alone;
    // What held a class back is told of it alone: of the rest, all that was aligned did.
    std::vector<std::pair<std::vector<std::string>, std::vector<Note>>> notes_alone;
    for (const auto& answer : answers) {
        alone.push_back(versions_of(leading, answer));
        notes_alone.emplace_back(urls_of(answer), answer.notes);
    }
    GPKG_TRY(locked.divergences, align_versions(classes, answers, solve));
    std::vector<Versions> now;
    now.reserve(answers.size());
    for (const auto& answer : answers) now.push_back(versions_of(leading, answer));
    for (std::size_t i = 0; i < classes.size(); ++i) {
        auto& notes = locked.notes[classes[i].name];
        auto& [urls, told] = notes_alone[i];
        notes = urls == urls_of(answers[i]) ? std::move(told) : answers[i].notes;
        for (auto& note : lowered(classes, alone, i, now)) notes.push_back(std::move(note));
    }
    GPKG_TRY(locked.lock, lock_of_answers(classes, answers));
    return locked;
}

Result<LockFile> lock_of_answers(const std::vector<ClassProblem>& classes,
                                 const std::vector<Solution>& answers) {
    LockFile lock;
    PackageAdder adder(lock);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const auto& [name, platform, problem, tells_accelerator, held] = classes[i];
        LockedClass locked;
        locked.name = name;
        locked.platform = platform;
        locked.needs = needs_of(problem.request, answers[i]);
        if (tells_accelerator) locked.accelerator = to_string(answers[i].accelerator);
        locked.made_for = locked_machine(problem.virtual_packages);
        for (const auto& record : answers[i].records) {
            GPKG_TRY(const auto place, adder.add({record, {}}));
            locked.packages.push_back(place);
        }
        lock.classes.push_back(std::move(locked));
    }
    return lock;
}

void leave_out_known(std::vector<Divergence>& divergences, const LockFile& old) {
    std::erase_if(divergences, [&](const Divergence& divergence) {
        return std::ranges::all_of(divergence.versions, [&](const auto& entry) {
            const auto* locked = old.find_class(entry.first);
            if (locked == nullptr) return false;
            return std::ranges::any_of(locked->packages, [&](std::size_t place) {
                const auto& record = old.packages[place].record;
                return record.name == divergence.name && record.version == entry.second;
            });
        });
    });
}

}  // namespace gpkg
