#include "cli/commands/lock.hpp"
#include "cli/table.hpp"
#include "cli/workflow/record_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/classes/class_words.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> notes_on(const LockedClasses& locked, const std::string& name) {
    const auto notes = locked.notes.find(name);
    return notes == locked.notes.end() ? std::vector<std::string>() : texts_of(notes->second);
}

/// "numpy 2.4.2 h1_0 -> numpy 2.4.3 h1_0"
std::string told(const Replaced& change) {
    if (change.before == nullptr) return "added " + record_title(*change.after);
    const auto before = record_title(*change.before);
    if (change.after == nullptr) return "removed " + before;
    const auto after = record_title(*change.after);
    const auto& sum = change.after->sha256;
    if (after != before) return fmt::format("{} -> {}", before, after);
    return !sum.empty() && sum == change.before->sha256
               ? fmt::format("{} now from {}", after, change.after->url)
               : after + " (another file of this name)";
}

/// "2.0 for a100 and h100; 1.9 for cpu" of versions by class.
std::string grouped(const std::map<std::string, std::string>& versions) {
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (const auto& [of, version] : versions) {
        auto group = std::ranges::find(groups, version, [](const auto& one) { return one.first; });
        if (group == groups.end()) group = groups.insert(groups.end(), {version, {}});
        group->second.push_back(of);
    }
    std::string text;
    for (const auto& [version, classes] : groups)
        text += fmt::format(
            "{}{} for {}", text.empty() ? "" : "; ", version, join_some(classes, "and", 8));
    return text;
}

}  // namespace

void warn_of_pip(Context& context, const std::vector<std::string>& requirements) {
    if (!requirements.empty())
        context.out.warn_once(
            "packages under 'pip:' are not locked: pip chooses their versions at installation");
    const auto secret = std::ranges::find_if(
        requirements, [](const auto& line) { return hide_secrets(line) != line; });
    if (secret != requirements.end())
        context.out.warn_once(
            fmt::format("the lock contains the credentials or query of '{}' under 'pip:'; keep "
                        "them in a netrc file or PIP_INDEX_URL instead",
                        hide_secrets(*secret)));
}

void tell_divergences(Output& out, const std::vector<Divergence>& divergences) {
    for (const auto& [name, versions, of, reason] : divergences) {
        out.print(fmt::format("{} differs between classes: {}", name, grouped(versions)));
        for (const auto line : split(reason, '\n'))
            out.print(fmt::format("  {}{}", of.empty() ? "" : of + ": ", line));
    }
}

Json json_of(const std::vector<Divergence>& divergences) {
    Json list = Json::array();
    for (const auto& [name, versions, of, reason] : divergences)
        list.push_back(
            {{"name", name}, {"versions", versions}, {"because_of", of}, {"reason", reason}});
    return list;
}

void tell_classes(Output& out, const LockedClasses& locked) {
    const auto needs = [&](const LockedClass& one) {
        return (one.needs.empty() ? "" : "needs ") + needs_text(locked.lock, one);
    };
    // A class that is named like its platform says it once.
    const bool shows_platform = std::ranges::any_of(
        locked.lock.classes, [](const auto& one) { return one.name != one.platform; });
    Table table({1});
    table.may_wrap(shows_platform ? 3 : 2);
    for (const auto& one : locked.lock.classes) {
        std::vector<std::string> cells{one.name, count_text(one.packages.size(), "package")};
        if (shows_platform) cells.push_back(one.platform);
        cells.push_back(needs(one));
        table.add(std::move(cells));
    }
    out.print(table);
    for (const auto& [name, notes] : locked.notes) {
        for (const auto& note : notes) out.tell(note, name);
    }
    tell_divergences(out, locked.divergences);
}

Json classes_json(const LockedClasses& locked) {
    Json list = Json::array();
    for (const auto& one : locked.lock.classes)
        list.push_back({{"name", one.name},
                        {"platform", one.platform},
                        {"needs", one.needs},
                        {"restricts", restrictions_beside_needs(locked.lock, one)},
                        {"useful_with", useful_with(locked.lock, one)},
                        {"packages", one.packages.size()},
                        {"notes", notes_on(locked, one.name)}});
    return list;
}

std::vector<Replaced> changes_between(const LockFile& old, const LockFile& now) {
    std::vector<Replaced> all;
    for (const auto& locked : now.classes) {
        const auto* before = old.find_class(locked.name);
        if (before == nullptr) continue;
        std::map<std::string, Replaced> by_name;
        for (const auto place : before->packages) {
            const auto& record = old.packages[place].record;
            by_name[record.name].before = &record;
        }
        for (const auto place : locked.packages) {
            const auto& record = now.packages[place].record;
            by_name[record.name].after = &record;
        }
        for (auto& [name, one] : by_name) {
            one.of = locked.name;
            const bool same = one.before != nullptr && one.after != nullptr &&
                              one.before->url == one.after->url &&
                              one.before->sha256 == one.after->sha256;
            if (!same) all.push_back(one);
        }
    }
    return all;
}

void tell_changes(Output& out, const std::vector<Replaced>& changes) {
    // What is the same in several classes is one line; packages stand in their order.
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> classes;
    for (const auto& change : changes) {
        const auto* record = change.after == nullptr ? change.before : change.after;
        classes[{record->name, told(change)}].push_back(change.of);
    }
    for (const auto& [change, of] : classes)
        out.print(fmt::format("{}: {}", join_some(of, "and", 4), change.second));
}

Json json_of(const std::vector<Replaced>& changes) {
    const auto url = [](const PackageRecord* record) {
        return record == nullptr ? Json() : Json(record->url);
    };
    Json list = Json::array();
    for (const auto& [of, before, after] : changes)
        list.push_back({{"class", of}, {"before", url(before)}, {"after", url(after)}});
    return list;
}

}  // namespace gpkg::cli::locks
