#include "libcore/classes/class_flaws.hpp"

#include "libcore/base/text.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "libcore/spec/unmet_dependency.hpp"

#include <fmt/format.h>
#include <set>
#include <unordered_map>

namespace gpkg {

std::vector<std::string> flaws_of(const LockFile& lock, const LockedClass& locked) {
    std::vector<std::string> flaws;
    std::unordered_map<std::string_view, const PackageRecord*> records;
    const auto find = [&](std::string_view name) {
        const auto found = records.find(name);
        return found == records.end() ? nullptr : found->second;
    };
    for (const auto place : locked.packages) {
        const auto& record = lock.packages[place].record;
        if (!records.emplace(record.name, &record).second)
            flaws.push_back(fmt::format("{} is there twice", record.name));
    }
    // What pixi builds from source has no record.
    std::set<std::string_view> built;
    for (const auto place : locked.foreign) built.insert(lock.foreign[place].name);
    for (const auto place : locked.packages) {
        const auto& record = lock.packages[place].record;
        if (!record.subdir.empty() && record.subdir != "noarch" && record.subdir != locked.platform)
            flaws.push_back(fmt::format(
                "{} is for {}, not for {}", record.name, record.subdir, locked.platform));
        for (const auto& restriction : record.constrains) {
            auto flaw = broken_restriction(restriction, find);
            if (!flaw.empty()) flaws.push_back(fmt::format("{} {}", record.name, flaw));
        }
        for (const auto& depend : record.depends) {
            if (depend.starts_with("__") || built.contains(name_in_spec(depend))) continue;
            auto flaw = unmet_dependency(depend, find);
            if (!flaw.empty()) flaws.push_back(fmt::format("{} {}", record.name, flaw));
        }
    }
    const auto& wishes = lock.wishes_of(locked);
    // A request that was changed by hand is no fault of the packages, and is told as that.
    for (const auto& text : is_edited(lock) ? std::vector<std::string>() : wishes.specs) {
        const auto spec = MatchSpec::parse(text);
        if (!spec || !spec->has_one_name() || spec->name.starts_with("__")) continue;
        const auto* record = find(spec->name);
        if (record == nullptr) {
            flaws.push_back(fmt::format("{} is asked for, and it has none", text));
        } else if (const auto version = version_of(*record);
                   spec->version && version && !spec->version->matches(*version)) {
            flaws.push_back(fmt::format("{} is asked for, and it has {}", text, record->version));
        }
    }
    // Other tools tell of a machine what matters to them.
    const auto machine = virtual_packages_of(locked.made_for);
    if (!machine.empty() && lock.tool == LockTool::Gpkg) {
        for (const auto place : locked.packages) {
            const auto& record = lock.packages[place].record;
            for (const auto& [spec, there] : unmet_needs(record, machine, true))
                flaws.push_back(fmt::format(
                    "{} needs {}, which the machine that it was made for {}",
                    record.name,
                    written(spec),
                    there == nullptr ? "lacks" : fmt::format("has as {}", value_told(*there))));
        }
    }
    const auto needs = least_needs(lock.records_of(locked), wishes.specs);
    for (const auto& need : needs) {
        if (!demand(locked.needs, need))
            flaws.push_back(fmt::format("it needs {}, which its needs do not say", need));
    }
    for (const auto& need : locked.needs) {
        if (!demand(needs, need))
            flaws.push_back(fmt::format("its needs say {}, which nothing in it asks for", need));
    }
    return flaws;
}

std::optional<std::string> flaw_in(const LockFile& lock) {
    for (const auto* locked : lock.default_classes()) {
        const auto flaws = flaws_of(lock, *locked);
        if (!flaws.empty()) return fmt::format("{}: {}", locked->name, join_first(flaws, 1));
    }
    return std::nullopt;
}

}  // namespace gpkg
