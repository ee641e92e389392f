#include "cli/workflow/lock/updating.hpp"

#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/lock/locked_sources.hpp"
#include "cli/workflow/lock/request.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_flaws.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

/// What is asked for of a class now.
struct WantedClass {
    ChangeRequest request;
    LockRequest remembered;
    std::vector<Channel> channels;
};

class Updating {
public:
    Updating(Context& context, const LockFile& lock, const UpdateOptions& options)
        : context_(context), lock_(lock), options_(options) {}

    Result<std::vector<AskedClass>> asked() {
        GPKG_TRY(auto named, named_classes());
        GPKG_CHECK(check_class_names(named));
        GPKG_CHECK(check_case(named));
        std::vector<AskedClass> asked;
        for (const auto& locked : lock_.classes) {
            const auto anew = std::ranges::find(named, locked.name, &NamedClass::class_name);
            GPKG_TRY(asked.emplace_back(), kept(locked, anew == named.end() ? nullptr : &*anew));
        }
        std::erase_if(named, [&](const auto& one) { return lock_.find_class(one.class_name()); });
        for (const auto& one : named) {
            GPKG_TRY(asked.emplace_back(), added(one));
        }
        return asked;
    }

    /// A note for each that stays without being to be had.
    void note_what_is_gone(LockedClasses& updated) const {
        for (const auto& locked : updated.lock.classes) {
            for (const auto place : locked.packages) {
                const auto& record = updated.lock.packages[place].record;
                const auto why = gone_.find(record.url);
                if (why != gone_.end())
                    updated.notes[locked.name].push_back(fmt::format(
                        "{}: {}; gpkg lock repair looks for other builds", record.fn, why->second));
            }
        }
    }

    std::map<std::string, Version> newest() const { return newest_; }

private:
    /// Machines, and where the classes are platforms, the file's that have none yet.
    Result<std::vector<NamedClass>> named_classes() {
        if (!options_.machines.empty() || !options_.sources.platform.empty())
            return cli::named_classes(context_,
                                      {options_.sources, options_.wishes, options_.machines});
        GPKG_TRY(const auto platforms,
                 missing_platforms(context_, lock_, options_.wishes, options_.sources.offline));
        std::vector<NamedClass> named;
        for (const auto& platform : platforms) {
            named.push_back({platform, options_.sources});
            named.back().sources.platform = platform;
        }
        return named;
    }

    Result<void> check_case(const std::vector<NamedClass>& named) const {
        for (const auto& one : named) {
            const auto name = one.class_name();
            const auto like = std::ranges::find_if(lock_.classes, [&](const auto& locked) {
                return locked.name != name && to_lower(locked.name) == to_lower(name);
            });
            if (like != lock_.classes.end())
                return fail(
                    ErrorKind::Usage,
                    fmt::format("--for {}: differs from the class {} only in upper and lower case",
                                one.machine,
                                like->name),
                    "rename the profile");
        }
        return {};
    }

    /// By the files, else as this class was asked for.
    Result<WantedClass> wanted_for(SourceOptions sources, const LockedClass& like) {
        WantedClass wanted;
        const bool has_files = !options_.wishes.files.empty();
        if (has_files) {
            GPKG_TRY(wanted.request, lock_wishes(context_, options_.wishes, sources));
            wanted.request.accelerators.override_with(options_.accelerators);
            GPKG_TRY(wanted.remembered, lock_request_of(context_, sources, wanted.request));
            wanted.request.specs_stand = ChangeRequest::SpecsStand::InFiles;
        } else {
            GPKG_TRY(wanted.request, wanted_by(lock_, like));
            ask_channels_of(wanted.request.specs, sources);
            wanted.request.specs_stand = ChangeRequest::SpecsStand::InLock;
            wanted.remembered = lock_.request;
            if (!sources.channel_priority.empty())
                wanted.remembered.channel_priority = sources.channel_priority;
            wanted.remembered.wishes = lock_.wishes_of(like);
            auto& accelerators = wanted.request.accelerators;
            if (options_.wishes.accelerator) {
                GPKG_TRY(const auto said, lock_wishes(context_, options_.wishes, sources));
                accelerators.override_with(said.accelerators);
            }
            accelerators.override_with(options_.accelerators);
            if (options_.wishes.accelerator || !options_.accelerators.empty())
                wanted.remembered.wishes.accelerator = to_string(accelerators);
        }
        if (has_files || !sources.channels.empty()) {
            GPKG_TRY(wanted.channels, wanted_channels(context_, sources));
            wanted.remembered.channels.clear();
            for (const auto& channel : wanted.channels)
                wanted.remembered.channels.push_back(channel.base_url());
        } else {
            GPKG_TRY(wanted.channels, with_credentials(context_, lock_.request.channels, sources));
        }
        wanted.remembered.exclude_newer = fixed_moment(as_locked(lock_, sources));
        return wanted;
    }

    Result<Sources> open(const WantedClass& wanted,
                         Seen seen,
                         const std::vector<PackageRecord>& there) {
        SourceOptions how;
        how.channel_priority = wanted.remembered.channel_priority;
        how.exclude_newer = wanted.remembered.exclude_newer;
        how.offline = options_.sources.offline;
        return open_sources(
            context_, std::move(seen), wanted.channels, how, names_in(wanted.request.specs, there));
    }

    /// A class that is there, for the machine that it was made for, or for `anew`.
    Result<AskedClass> kept(const LockedClass& locked, const NamedClass* anew) {
        auto seen = seen_of(locked);
        auto sources = options_.sources;
        sources.platform = locked.platform;
        if (anew != nullptr) {
            sources = anew->sources;
            GPKG_TRY(seen.machine, machine_of(context_, sources));
            if (seen.machine.platform != locked.platform)
                return fail(ErrorKind::Usage,
                            fmt::format("--for {}: its platform is {}, but class {} is for {}",
                                        anew->machine,
                                        seen.machine.platform,
                                        locked.name,
                                        locked.platform),
                            "rename its profile");
            GPKG_TRY(seen.virtual_packages, detected_packages(context_, seen.machine));
            seen.machine.name = locked.name;
        }
        GPKG_TRY(auto wanted, wanted_for(sources, locked));
        const auto records = lock_.records_of(locked);
        GPKG_TRY(const auto opened, open(wanted, std::move(seen), records));
        GPKG_CHECK(note_newest(opened));
        GPKG_TRY(auto present, present_of(records, opened, anew != nullptr));
        GPKG_TRY(present.state, state_of(lock_, locked));
        leave_what_is_old(wanted, locked, present);
        AskedClass asked;
        asked.name = locked.name;
        GPKG_TRY(asked.question, question_of(context_, opened, wanted.request, std::move(present)));
        asked.request = std::move(wanted.remembered);
        return asked;
    }

    Result<void> note_newest(const Sources& sources) {
        if (sources.exclude_newer) return {};
        for (const auto& name : options_.names) {
            for (const auto& index : sources.indexes) {
                GPKG_TRY(const auto found, index->find(name));
                for (const auto& row : found.rows()) {
                    const auto version = Version::parse(found.version(row));
                    if (!version) continue;
                    const auto [newest, is_new] = newest_.try_emplace(name, *version);
                    if (newest->second < *version) newest->second = *version;
                }
            }
        }
        return {};
    }

    /// What may stay: all that the channels and the machine allow, by what the channels say today,
    /// and of what is named that is to be had.
    Result<Present> present_of(const std::vector<PackageRecord>& records,
                               const Sources& sources,
                               bool is_other_machine) {
        const auto& machine = sources.virtual_packages;
        const CudaLimits limits(machine);
        Present present;
        for (const auto& record : records) {
            GPKG_TRY(auto now, of_channel(record, sources.indexes));
            const auto& current = now.record ? *now.record : record;
            // What only builds is in a class that was decided so.
            const auto bounds = is_other_machine ? DriverBounds::Count : DriverBounds::Ignore;
            const bool is_possible = unmet_needs(current, machine, bounds).empty() &&
                                     !(is_other_machine && limits.obstacle_of(current));
            if (!is_possible) continue;
            if (!now.record) {
                const auto is_its = [&](const Channel& one) {
                    return record.url.starts_with(one.base_url() + "/");
                };
                if (std::ranges::none_of(sources.channels, is_its) ||
                    are_naming(options_.names, record.name))
                    continue;
                gone_[record.url] = std::move(now.why_gone);
            }
            present.records.emplace_back().package = record;
        }
        return present;
    }

    /// As in an environment, what was asked for before is an earlier wish, and what is new or named
    /// goes before it.
    void leave_what_is_old(WantedClass& wanted, const LockedClass& locked, Present& present) const {
        auto& request = wanted.request;
        const auto& names = options_.names;
        const auto& before = lock_.wishes_of(locked);
        for (const auto& record : present.records) {
            if (are_naming(names, record.name())) request.update.push_back(record.name());
        }
        std::vector<MatchSpec> own;
        for (auto& spec : request.specs) {
            const auto& specs = before.specs;
            const bool is_old = std::ranges::find(specs, as_typed(spec)) != specs.end();
            if (is_old) present.wishes.push_back(spec);
            if (!is_old || names.contains(spec.name)) own.push_back(std::move(spec));
        }
        request.specs = std::move(own);
        if (wanted.remembered.wishes.accelerator == before.accelerator)
            request.accelerators = {};  // as the class has it
    }

    /// A class that is new.
    Result<AskedClass> added(const NamedClass& named) {
        Seen seen;
        GPKG_TRY(seen.machine, machine_of(context_, named.sources));
        GPKG_TRY(seen.virtual_packages, detected_packages(context_, seen.machine));
        seen.machine.name = named.class_name();
        GPKG_TRY(const auto* like, like_of(seen.machine));
        GPKG_TRY(auto wanted, wanted_for(named.sources, *like));
        GPKG_TRY(const auto opened, open(wanted, std::move(seen), {}));
        AskedClass asked;
        asked.name = named.class_name();
        GPKG_TRY(asked.question, question_of(context_, opened, wanted.request, Present{}));
        asked.request = std::move(wanted.remembered);
        return asked;
    }

    /// The class whose request is asked for a new machine.
    Result<const LockedClass*> like_of(const Machine& machine) const {
        std::vector<const LockedClass*> of_platform;
        std::vector<const LockedClass*> all;
        for (const auto& locked : lock_.classes) {
            all.push_back(&locked);
            if (locked.platform == machine.platform) of_platform.push_back(&locked);
        }
        const auto& like = of_platform.empty() ? all : of_platform;
        const bool is_one = std::ranges::all_of(like, [&](const auto* one) {
            return lock_.wishes_of(*one) == lock_.wishes_of(*like.front());
        });
        if (!is_one && options_.wishes.files.empty())
            return fail(
                ErrorKind::Usage,
                fmt::format("the classes of the lock have different requests, and none is for {}",
                            machine.platform),
                fmt::format("give the request for {} with -f FILE", machine.name));
        return like.front();
    }

    Context& context_;
    const LockFile& lock_;
    const UpdateOptions& options_;
    std::map<std::string, std::string> gone_;  ///< why, by URL
    std::map<std::string, Version> newest_;
};

/// Each class of the lock has to say what it is.
Result<void> check_can_be_updated(const LockFile& lock) {
    const auto refuse = [](std::string why) {
        return fail(
            ErrorKind::Unsupported, std::move(why), "to solve from scratch: gpkg lock -f FILE");
    };
    if (is_edited(lock))
        return fail(
            ErrorKind::Conflict, std::string(kEdited), "to solve from scratch: gpkg lock -f FILE");
    if (lock.request == LockRequest{}) return refuse(no_request_text(lock));
    if (lock.classes.empty()) return refuse("the lock is empty");
    for (const auto& locked : lock.classes) {
        if (locked.environment != kDefaultEnvironment || !locked.foreign.empty())
            return refuse("the lock has environments or PyPI packages from another tool");
        if (locked.made_for.empty())
            return refuse(
                fmt::format("the lock does not record the machine of class {}", locked.name));
        if (!locked.also_made_for.empty())
            return refuse(
                fmt::format("a lock made with --for-all cannot be updated: class {} is for several "
                            "kinds of machines",
                            locked.name));
    }
    return {};
}

}  // namespace

bool asks_nothing(const UpdateOptions& options) {
    const auto& sources = options.sources;
    const auto& wishes = options.wishes;
    return options.names.empty() && wishes.files.empty() && !wishes.accelerator &&
           options.machines.empty() && sources.platform.empty() && sources.channels.empty() &&
           sources.channel_priority.empty() && sources.exclude_newer.empty();
}

Result<UpdatedClasses> update_lock(Context& user,
                                   const LockFile& lock,
                                   const UpdateOptions& options) {
    if (asks_nothing(options))
        return fail(
            ErrorKind::Usage,
            "nothing to update",
            "give packages (gpkg lock update gpkg.lock numpy), --all, -f environment.yml or "
            "--for MACHINE");
    GPKG_CHECK(check_can_be_updated(lock));
    GPKG_CHECK(check_has(lock, options.names));
    auto context = options.machines.empty() ? user : without_overrides(user);
    Updating updating(context, lock, options);
    GPKG_TRY(auto asked, updating.asked());
    GPKG_TRY(auto decided, lock_of(context, std::move(asked)));
    auto& updated = decided.locked;
    leave_out_known(updated.divergences, lock);
    updating.note_what_is_gone(updated);
    updated.lock.kept = lock.kept;
    if (const auto flaw = flaw_in(updated.lock))
        return fail(ErrorKind::Integrity,
                    fmt::format("the updated lock would be inconsistent: {}", *flaw),
                    "to solve from scratch: gpkg lock -f FILE");
    return UpdatedClasses{std::move(updated), updating.newest()};
}

}  // namespace gpkg::cli
