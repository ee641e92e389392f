#include "libcore/lock/environments.hpp"

#include "libcore/base/text.hpp"
#include "libcore/lock/class_needs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gpkg {
namespace {

constexpr std::string_view kMainCategory = "main";

/// In files that were converted from one of conda-lock's, too.
bool has_categories(const LockFile& lock) { return lock.kept_for == "conda-lock"; }

std::string name_in_file(const LockFile& lock, const std::string& environment) {
    return has_categories(lock) && environment == kDefaultEnvironment ? std::string(kMainCategory)
                                                                      : environment;
}

bool is_empty(const LockedClass& locked) {
    return locked.packages.empty() && locked.foreign.empty();
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
    if (!known.empty()) hint = "it has " + join_some(known, "and");
    if (!near.empty()) hint = fmt::format("did you mean {}?", join_or(near));
    return fail(ErrorKind::NotFound, fmt::format("has no {}", environment_title(lock, name)), hint);
}

void take_all(std::vector<std::size_t>& places, const std::vector<std::size_t>& more) {
    std::set<std::size_t> all(places.begin(), places.end());
    all.insert(more.begin(), more.end());
    places.assign(all.begin(), all.end());
}

/// Where a category has nothing for a platform, `main` is what is installed there.
void add_main(const LockFile& lock, std::vector<LockedClass>& classes) {
    for (const auto& main : lock.classes) {
        if (main.environment != kDefaultEnvironment) continue;
        const auto found = std::ranges::find(classes, main.name, &LockedClass::name);
        if (found == classes.end()) {
            classes.push_back(main);
            continue;
        }
        take_all(found->packages, main.packages);
        take_all(found->foreign, main.foreign);
        found->needs = least_needs(lock.records_of(*found), lock.specs_of(*found));
    }
}

}  // namespace

std::string environment_title(const LockFile& lock, const std::string& environment) {
    return fmt::format("{} {}",
                       has_categories(lock) ? "category" : "environment",
                       name_in_file(lock, environment));
}

std::vector<std::string> other_environments(const LockFile& lock) {
    std::set<std::string> names;
    for (const auto& locked : lock.classes) {
        if (locked.environment != kDefaultEnvironment && !is_empty(locked))
            names.insert(locked.environment);
    }
    return {names.begin(), names.end()};
}

Result<LockFile> lock_of_environment(const LockFile& lock, const std::string& name) {
    const bool is_main = has_categories(lock) && name == kMainCategory;
    const auto environment = is_main ? std::string(kDefaultEnvironment) : name;
    std::vector<LockedClass> classes;
    std::ranges::copy_if(lock.classes, std::back_inserter(classes), [&](const auto& locked) {
        return locked.environment == environment;
    });
    if (classes.empty() && !lock.environments.contains(environment))
        return no_environment(lock, name);
    if (std::ranges::all_of(classes, is_empty))
        return fail(
            ErrorKind::NotFound,
            fmt::format("there is nothing in the {}", environment_title(lock, environment)));
    if (has_categories(lock) && environment != kDefaultEnvironment) add_main(lock, classes);
    auto alone = lock.only(std::move(classes));
    const bool is_as_decided = alone.request.digest == request_digest(alone);
    alone.channels = lock.channels_of(environment);
    alone.environments.clear();
    for (auto& locked : alone.classes) locked.environment = kDefaultEnvironment;
    if (is_as_decided) alone.request.digest = request_digest(alone);
    return alone;
}

}  // namespace gpkg
