#include "libcore/lock/class_flaws.hpp"

#include "libcore/base/text.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/spec/match_spec.hpp"

#include <fmt/format.h>
#include <set>
#include <unordered_map>

namespace gpkg {
namespace {

using Records = std::unordered_map<std::string_view, const PackageRecord*>;

/// What a dependency wants and the class does not have; empty where it has it.
std::string missing(const std::string& depend, const Records& records) {
    auto spec = MatchSpec::parse(depend);
    if (!spec || spec->when) return {};
    // Where a package comes from was decided when it was locked, and a mirror has another name.
    spec->channel.reset();
    const auto found = records.find(spec->name);
    if (found == records.end()) return fmt::format("needs {}, and there is none", depend);
    const auto& there = *found->second;
    return spec->matches(there)
               ? std::string()
               : fmt::format("needs {}, and there is {} {}", depend, there.version, there.build);
}

/// What a package restricts and the class has otherwise; empty where it does not.
std::string forbidden(const std::string& restriction, const Records& records) {
    auto spec = MatchSpec::parse(restriction);
    if (!spec || spec->when) return {};
    spec->channel.reset();
    const auto found = records.find(spec->name);
    if (found == records.end() || spec->matches(*found->second)) return {};
    const auto& there = *found->second;
    return fmt::format(
        "goes only with {}, and there is {} {}", restriction, there.version, there.build);
}

}  // namespace

std::vector<std::string> flaws_of(const LockFile& lock, const LockedClass& locked) {
    std::vector<std::string> flaws;
    Records records;
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
            auto flaw = forbidden(restriction, records);
            if (!flaw.empty()) flaws.push_back(fmt::format("{} {}", record.name, flaw));
        }
        for (const auto& depend : record.depends) {
            if (depend.starts_with("__") || built.contains(name_in_spec(depend))) continue;
            auto flaw = missing(depend, records);
            if (!flaw.empty()) flaws.push_back(fmt::format("{} {}", record.name, flaw));
        }
    }
    const auto needs = least_needs(lock.records_of(locked), lock.specs_of(locked));
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

}  // namespace gpkg
