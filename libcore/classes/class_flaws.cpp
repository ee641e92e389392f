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
namespace {

class Flaws {
public:
    Flaws(const LockFile& lock, const LockedClass& locked) : lock_(lock), locked_(locked) {}

    std::vector<std::string> all() && {
        of_names();
        for (const auto place : locked_.packages) of_record(lock_.packages[place].record);
        // A request that was changed by hand is no fault of the packages, and is told as that.
        if (!is_edited(lock_)) of_wishes();
        // Other tools tell of a machine what matters to them.
        if (lock_.tool == LockTool::Gpkg) of_machine();
        of_needs();
        return std::move(flaws_);
    }

private:
    const PackageRecord* find(std::string_view name) const {
        const auto found = records_.find(name);
        return found == records_.end() ? nullptr : found->second;
    }

    void of_names() {
        for (const auto place : locked_.packages) {
            const auto& record = lock_.packages[place].record;
            if (!records_.emplace(record.name, &record).second)
                flaws_.push_back(fmt::format("{} is listed twice", record.name));
        }
        for (const auto place : locked_.foreign) built_.insert(lock_.foreign[place].name);
    }

    void of_record(const PackageRecord& record) {
        const auto find_name = [this](std::string_view name) { return find(name); };
        if (!record.subdir.empty() && record.subdir != "noarch" &&
            record.subdir != locked_.platform)
            flaws_.push_back(fmt::format(
                "{} is for {}, not for {}", record.name, record.subdir, locked_.platform));
        for (const auto& restriction : record.constrains) {
            auto flaw = broken_restriction(restriction, find_name);
            if (!flaw.empty()) flaws_.push_back(fmt::format("{} {}", record.name, flaw));
        }
        for (const auto& depend : record.depends) {
            if (depend.starts_with("__") || built_.contains(name_in_spec(depend))) continue;
            auto flaw = unmet_dependency(depend, find_name);
            if (!flaw.empty()) flaws_.push_back(fmt::format("{} {}", record.name, flaw));
        }
    }

    void of_wishes() {
        for (const auto& text : lock_.wishes_of(locked_).specs) {
            const auto spec = MatchSpec::parse(text);
            if (!spec || !spec->has_one_name() || spec->name.starts_with("__")) continue;
            const auto* record = find(spec->name);
            if (record == nullptr) {
                flaws_.push_back(fmt::format("{} is requested but not locked", text));
            } else if (const auto version = version_of(*record);
                       spec->version && version && !spec->version->matches(*version)) {
                flaws_.push_back(
                    fmt::format("{} is requested but {} is locked", text, record->version));
            }
        }
    }

    void of_machine() {
        const auto machine = as_virtual_packages(locked_.made_for);
        if (machine.empty()) return;
        for (const auto place : locked_.packages) {
            const auto& record = lock_.packages[place].record;
            for (const auto& [spec, there] : unmet_needs(record, machine, DriverBounds::Ignore))
                flaws_.push_back(fmt::format("{} needs {}, but the machine of the class has {}",
                                             record.name,
                                             written(spec),
                                             there == nullptr ? "none" : value_told(*there)));
        }
    }

    void of_needs() {
        const auto records = lock_.records_of(locked_);
        const auto& specs = lock_.wishes_of(locked_).specs;
        const auto needs = least_needs(records, specs);
        const auto least = lock_.tool == LockTool::Gpkg
                               ? needs
                               : least_needs(records, specs, RunConstraints::Ignore);
        for (const auto& need : least) {
            if (!demand(locked_.needs, need))
                flaws_.push_back(
                    fmt::format("its needs lack {}, which its packages require", need));
        }
        for (const auto& need : locked_.needs) {
            if (!demand(needs, need) && !demand(least, need))
                flaws_.push_back(fmt::format("its needs have {}, which no package requires", need));
        }
    }

    const LockFile& lock_;
    const LockedClass& locked_;
    std::unordered_map<std::string_view, const PackageRecord*> records_;
    std::set<std::string_view> built_;  ///< what pixi builds from source, and so has no record
    std::vector<std::string> flaws_;
};

}  // namespace

std::vector<std::string> flaws_of(const LockFile& lock, const LockedClass& locked) {
    return Flaws(lock, locked).all();
}

std::optional<std::string> flaw_in(const LockFile& lock) {
    for (const auto* locked : lock.default_classes()) {
        const auto flaws = flaws_of(lock, *locked);
        if (!flaws.empty()) return fmt::format("{}: {}", locked->name, join_first(flaws, 1));
    }
    return std::nullopt;
}

}  // namespace gpkg
