#include "libcore/lock/environments.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gpkg {
namespace {

std::string name_in_file(const LockFile& lock, const std::string& environment) {
    return lock.has_categories() && environment == kDefaultEnvironment ? std::string(kMainCategory)
                                                                       : environment;
}

/// All of them, as the file calls them.
std::vector<std::string> names_of(const LockFile& lock) {
    std::set<std::string> names;
    for (const auto& locked : lock.classes) names.insert(name_in_file(lock, locked.environment));
    for (const auto& [name, environment] : lock.environments)
        names.insert(name_in_file(lock, name));
    return {names.begin(), names.end()};
}

tl::unexpected<Error> no_environment(const LockFile& lock, const std::string& name) {
    const auto known = names_of(lock);
    const auto near = near_names(name, known);
    std::string hint;
    if (!known.empty()) hint = "the lock has " + join_some(known, "and");
    if (!near.empty()) hint = did_you_mean(near);
    return fail(ErrorKind::NotFound, fmt::format("no {}", environment_title(lock, name)), hint);
}

}  // namespace

std::string environment_title(const LockFile& lock, const std::string& environment) {
    return fmt::format("{} {}",
                       lock.has_categories() ? "category" : "environment",
                       name_in_file(lock, environment));
}

std::string full_name(const LockedClass& locked) {
    return locked.environment == kDefaultEnvironment ? locked.name
                                                     : locked.environment + "/" + locked.name;
}

std::optional<std::size_t> class_index(const std::vector<std::string>& names,
                                       std::string_view text) {
    std::optional<std::size_t> longer;
    bool is_only = true;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) return i;
        if (text.empty() || !names[i].starts_with(std::string(text) + "-")) continue;
        is_only = !longer;
        longer = i;
    }
    return is_only ? longer : std::nullopt;
}

std::vector<std::string> other_environments(const LockFile& lock, std::string_view platform) {
    std::set<std::string> names;
    for (const auto& locked : lock.classes) {
        const bool is_for_it = platform.empty() || locked.platform == platform;
        if (locked.environment != kDefaultEnvironment && is_for_it && !locked.is_empty())
            names.insert(locked.environment);
    }
    return {names.begin(), names.end()};
}

Result<LockFile> lock_of_environment(const LockFile& lock, const std::string& name) {
    const bool is_main = lock.has_categories() && name == kMainCategory;
    const auto environment = is_main ? std::string(kDefaultEnvironment) : name;
    std::vector<LockedClass> classes;
    std::ranges::copy_if(lock.classes, std::back_inserter(classes), [&](const auto& locked) {
        return locked.environment == environment;
    });
    if (classes.empty() && !lock.environments.contains(environment))
        return no_environment(lock, name);
    if (std::ranges::all_of(classes, &LockedClass::is_empty))
        return fail(ErrorKind::NotFound,
                    fmt::format("the {} is empty", environment_title(lock, environment)));
    auto alone = lock.only(std::move(classes));
    const bool is_as_decided = alone.request.digest == request_digest(alone);
    alone.channels = lock.channels_of(environment);
    KeptYaml kept;
    if (const auto own = lock.environments.find(environment); own != lock.environments.end())
        kept = own->second.kept;
    alone.environments.clear();
    // Indexes and options of pixi: without them it solves again.
    if (!kept.empty()) alone.environments[std::string(kDefaultEnvironment)].kept = std::move(kept);
    for (auto& locked : alone.classes) locked.environment = kDefaultEnvironment;
    if (is_as_decided) alone.request.digest = request_digest(alone);
    return alone;
}

}  // namespace gpkg
