#include "cli/workflow/lock/classes.hpp"

#include "cli/workflow/ask/hints.hpp"
#include "cli/workflow/lock/request.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "virtual-packages/machines.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

Result<AskedClass> asked_for(Context& context, const WishOptions& wishes, const NamedClass& named) {
    auto sources = named.sources;
    // Selectors of an environment.yml may choose other packages for another platform.
    GPKG_TRY(const auto wanted, lock_wishes(context, wishes, sources));
    AskedClass asked;
    asked.name = named.class_name();
    GPKG_TRY(asked.request, lock_request_of(context, sources, wanted));
    GPKG_TRY(asked.question, question_of(context, sources, wanted));
    if (!named.sources.for_machine.empty()) asked.question.problem.machine = asked.name;
    for (const auto& note : notes_on_pins(asked.question)) context.out.note_once("note: " + note);
    return asked;
}

/// A lock holds the channels once, whatever the class.
Result<void> check_same_channels(const std::vector<AskedClass>& asked) {
    const auto& first = asked.front();
    for (const auto& other : asked) {
        if (other.request.channels != first.request.channels)
            return fail(ErrorKind::Unsupported,
                        fmt::format("the file selects different channels for {} and {}, but a lock "
                                    "has one list of channels",
                                    other.name,
                                    first.name),
                        "write one lock for each: gpkg lock --for NAME -o FILE");
    }
    return {};
}

/// What was asked for: once, and with each class what is others there.
void remember(LockFile& lock, const std::map<std::string, LockRequest>& requests, LockRequest all) {
    lock.request = std::move(all);
    for (auto& locked : lock.classes) {
        const auto& wishes = requests.at(locked.name).wishes;
        if (wishes != lock.request.wishes) locked.wishes = wishes;
    }
    lock.request.digest = request_digest(lock);
}

/// Names the configured channels that the file does not list.
Result<void> tell_unused_channels(Context& context, const SourceOptions& sources) {
    GPKG_TRY(const auto used, wanted_channels(context, sources));
    GPKG_TRY(auto unused, wanted_channels(context, {}));
    std::erase_if(unused,
                  [&](const Channel& one) { return std::ranges::find(used, one) != used.end(); });
    if (unused.empty()) return {};
    std::vector<std::string> names;
    names.reserve(unused.size());
    for (const auto& channel : unused) names.push_back(channel.name());
    context.out.note_once(
        fmt::format("note: the lock has only the channels of the file, not the configured {}; to "
                    "add one: -c CHANNEL",
                    join_some(names, "and")));
    return {};
}

}  // namespace

Result<ChangeRequest> lock_wishes(Context& context,
                                  const WishOptions& options,
                                  SourceOptions& sources) {
    const auto given = sources.channels.size();
    GPKG_TRY(auto wishes, read_wishes(context, options, sources));
    // The file's channels are its whole list: a lock is for people with other configurations.
    if (sources.channels.size() > given && !sources.override_channels) {
        sources.override_channels = true;
        GPKG_CHECK(tell_unused_channels(context, sources));
    }
    if (!wishes.files.empty())
        return fail(
            ErrorKind::Usage,
            "package files cannot be locked: they are exact already",
            "to install them: gpkg create -n NAME " +
                (options.files.empty() ? "--file FILE" : "--file " + shell_words(options.files)));
    auto request = change_request(std::move(wishes));
    request.is_for_lock = true;
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    return request;
}

Result<void> check_names_any(const LockWishes& wishes) {
    if (!wishes.specs.empty()) return {};
    return fail(ErrorKind::Usage,
                "nothing to lock: name packages or a file",
                "gpkg lock -f environment.yml --for a100 --for cpu");
}

std::string NamedClass::class_name() const {
    const std::string bare(virtual_packages::without_given_facts(machine));
    const bool is_file =
        bare.find('/') != std::string::npos || bare.ends_with(".yaml") || bare.ends_with(".yml");
    auto name = (is_file ? fs::path(bare).stem().native() : bare) + machine.substr(bare.size());
    // As a lock file can name it.
    std::replace_if(
        name.begin(),
        name.end(),
        [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' &&
                   c != '.';
        },
        '-');
    name.erase(0, std::min(name.find_first_not_of('.'), name.size()));
    return name;
}

Result<std::vector<NamedClass>> named_classes(Context& context, const ClassOptions& options) {
    std::vector<NamedClass> classes;
    const auto add = [&](const std::string& machine, std::string SourceOptions::*how) {
        classes.push_back({machine, options.sources});
        classes.back().sources.*how = machine;
    };
    for (const auto& machine : options.machines) add(machine, &SourceOptions::for_machine);
    if (!classes.empty()) return classes;
    std::vector<std::string> platforms{options.sources.platform};
    if (platforms.front().empty()) {
        GPKG_TRY(platforms, platforms_of_files(context, options.wishes, options.sources.offline));
    }
    if (platforms.empty()) platforms = {context.config.platform.value};
    for (const auto& platform : platforms) add(platform, &SourceOptions::platform);
    return classes;
}

Result<std::vector<std::string>> missing_platforms(Context& context,
                                                   const LockFile& lock,
                                                   const WishOptions& wishes,
                                                   bool offline) {
    const auto is_of_platform = [](const auto& one) { return one.name == one.platform; };
    if (!std::ranges::all_of(lock.classes, is_of_platform)) return std::vector<std::string>();
    GPKG_TRY(auto platforms, platforms_of_files(context, wishes, offline));
    std::erase_if(platforms, [&](const auto& platform) {
        return std::ranges::find(lock.classes, platform, &LockedClass::platform) !=
               lock.classes.end();
    });
    return platforms;
}

Result<void> check_class_names(const std::vector<NamedClass>& named) {
    std::set<std::string> taken;
    for (const auto& one : named) {
        const auto name = one.class_name();
        const auto hint = "a class has the file name of its profile: rename the profile";
        if (name.empty())
            return fail(ErrorKind::Usage,
                        fmt::format("--for {}: cannot make a class name from this", one.machine),
                        hint);
        if (!taken.insert(to_lower(name)).second)
            return fail(ErrorKind::Usage,
                        fmt::format("--for {}: class {} is given twice", one.machine, name),
                        hint);
    }
    return {};
}

Result<LockedFor> lock_of(Context& context, std::vector<AskedClass> asked) {
    for (const auto& one : asked) GPKG_CHECK(check_names_any(one.request.wishes));
    GPKG_CHECK(check_same_channels(asked));
    LockedFor decided;
    std::vector<LockedChannel> channels;
    std::vector<const Question*> questions;
    std::map<std::string, LockRequest> requests;
    auto first = asked.front().request;
    for (const auto& channel : asked.front().question.channels)
        channels.push_back({channel.base_url(), {}});
    for (const auto& one : asked) {
        questions.push_back(&one.question);
        requests.emplace(one.name, one.request);
        const auto& own = one.question.channels;
        decided.channels.insert(decided.channels.end(), own.begin(), own.end());
    }
    GPKG_CHECK(check_accelerator_names(questions));
    GPKG_TRY(decided.locked, decide_and_align(context, std::move(asked)));
    decided.locked.lock.channels = std::move(channels);
    remember(decided.locked.lock, requests, std::move(first));
    return decided;
}

Result<LockedFor> lock_for(Context& user, const ClassOptions& options) {
    auto context = options.machines.empty() ? user : without_overrides(user);
    GPKG_TRY(const auto named, named_classes(context, options));
    GPKG_CHECK(check_class_names(named));
    std::vector<AskedClass> asked;
    for (const auto& one : named) {
        GPKG_TRY(asked.emplace_back(), asked_for(context, options.wishes, one));
    }
    return lock_of(context, std::move(asked));
}

}  // namespace gpkg::cli
