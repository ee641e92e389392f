#include "libcore/lock/class_flaws.hpp"

#include "libcore/base/text.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
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

void compare_needs(const std::vector<std::string>& said,
                   const std::vector<std::string>& asked,
                   std::vector<std::string>& flaws) {
    const auto lacks = [](const std::vector<std::string>& texts, const std::string& text) {
        return std::find(texts.begin(), texts.end(), text) == texts.end();
    };
    for (const auto& need : asked) {
        if (lacks(said, need))
            flaws.push_back(fmt::format("its packages need {}, which its needs do not say", need));
    }
    for (const auto& need : said) {
        if (lacks(asked, need))
            flaws.push_back(fmt::format("its needs say {}, and its packages do not", need));
    }
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
        for (const auto& depend : record.depends) {
            if (depend.starts_with("__") || built.contains(name_in_spec(depend))) continue;
            auto flaw = missing(depend, records);
            if (!flaw.empty()) flaws.push_back(fmt::format("{} {}", record.name, flaw));
        }
    }
    compare_needs(locked.needs, least_needs(lock.records_of(locked)), flaws);
    return flaws;
}

}  // namespace gpkg
