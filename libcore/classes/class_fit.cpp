#include "libcore/classes/class_fit.hpp"

#include "libcore/classes/class_order_internal.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/hardware/gpu_libraries.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpkg {
namespace {

/// Where nobody says what was asked for, as in files of other tools: all of it.
std::vector<MatchSpec> asked_of(const LockFile& lock, const LockedClass& locked) {
    std::vector<MatchSpec> specs;
    const auto& asked = lock.wishes_of(locked).specs;
    if (asked.empty()) {
        for (const auto place : locked.packages)
            specs.emplace_back().name = lock.packages[place].record.name;
    }
    for (const auto& text : asked) {
        if (auto spec = MatchSpec::parse(text)) specs.push_back(*std::move(spec));
    }
    return specs;
}

/// Sets ClassFit::unmet and ClassFit::unknown. An assumed value of the machine does not decide
/// against a class that was made for such a machine, as far as the other values tell.
void compare_needs(ClassFit& fit,
                   std::string_view platform,
                   const std::vector<PackageRecord>& machine,
                   bool is_for_it) {
    const auto& locked = *fit.locked;
    if (locked.platform != platform) {
        fit.unmet = {fmt::format("is for {}, not {}", locked.platform, platform)};
        return;
    }
    for (const auto& need : fit.asked) {
        const auto spec = MatchSpec::parse(need);
        const auto meets = [&](const PackageRecord& one) { return spec && spec->matches(one); };
        if (std::ranges::any_of(machine, meets)) continue;
        const auto told = written(need);
        const auto* there = find_record(machine, name_in_spec(need));
        if (there == nullptr)
            fit.unmet.push_back(fmt::format("needs {} (none found)", told));
        else if (!is_assumed(*there))
            fit.unmet.push_back(fmt::format("needs {} (found {})", told, value_told(*there)));
        else
            (is_for_it ? fit.unknown : fit.unmet)
                .push_back(fmt::format("needs {} ({} is assumed)", told, value_told(*there)));
    }
}

/// None where the lock says them wrong: that is told where they count.
AcceleratorWishes accelerator_wishes(const LockFile& lock, const LockedClass& locked) {
    return parse_accelerator_wishes(lock.wishes_of(locked).accelerator)
        .value_or(AcceleratorWishes());
}

/// What was asked for, as it was first tried for the machine that the class was made for.
Accelerators accelerators_of(const AcceleratorWishes& wishes, const LockedClass& locked) {
    Accelerators accelerators;
    if (!wishes.all.empty())
        accelerators.all = choices_on(as_virtual_packages(locked.made_for), wishes.all).front();
    accelerators.of_package = wishes.of_package;
    return accelerators;
}

/// What is for building alone may be for other machines.
DriverBounds bounds_of(const LockFile& lock,
                       const LockedClass& locked,
                       const std::vector<PackageRecord>& records) {
    const auto wishes = accelerator_wishes(lock, locked);
    return only_compiles_for_nvidia(
               asked_of(lock, locked), records, accelerators_of(wishes, locked))
               ? DriverBounds::Ignore
               : DriverBounds::Count;
}

/// What the class' packages restrict of virtual packages: "__cuda >=13" of cuda-version.
std::vector<std::string> restrictions_of(const std::vector<PackageRecord>& records,
                                         DriverBounds bounds) {
    std::set<std::string> texts;
    for (const auto& record : records) {
        for (const auto& text : record.constrains) {
            if (!text.starts_with("__")) continue;
            if (!may_restrict(record, name_in_spec(text), bounds)) continue;
            const auto spec = MatchSpec::parse(text);
            if (!spec || !spec->when) texts.insert(text);
        }
    }
    return {texts.begin(), texts.end()};
}

/// The same of other tools' locks, with the packages: "__cuda >=13" and "cuda-version 13.0".
std::vector<std::pair<std::string, std::string>> restricting_of(
    const std::vector<PackageRecord>& records, const std::vector<std::string>& restrictions) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& record : records) {
        for (const auto& text : record.constrains) {
            if (std::ranges::find(restrictions, text) != restrictions.end())
                pairs.emplace_back(text, fmt::format("{} {}", record.name, record.version));
        }
    }
    return pairs;
}

/// What the machine breaks of them.
std::vector<std::string> broken_on(
    const std::vector<PackageRecord>& machine,
    const std::vector<std::pair<std::string, std::string>>& restricting) {
    std::vector<std::string> broken;
    for (const auto& [text, package] : restricting) {
        const auto* there = find_record(machine, name_in_spec(text));
        const auto spec = MatchSpec::parse(text);
        if (there == nullptr || is_assumed(*there) || !spec || spec->matches(*there)) continue;
        broken.push_back(fmt::format(
            "{} allows only {} (found {})", package, written(text), value_told(*there)));
    }
    return broken;
}

/// Of what they restrict, what their builds for GPUs are of use with.
std::vector<std::string> of_use(const LockedClass& locked,
                                const std::vector<PackageRecord>& records,
                                const std::vector<std::string>& restrictions) {
    std::set<Accelerator> vendors;
    for (const auto& record : records) vendors.insert(accelerator_of(record).accelerator);
    std::vector<std::string> texts;
    for (const auto& text : restrictions) {
        const auto vendor = vendor_of_virtual_package(name_in_spec(text));
        if (vendor && vendors.contains(*vendor) && !demand(locked.needs, text))
            texts.push_back(text);
    }
    return least_needs({}, texts);
}

/// Of what goes with a CUDA and is not for building, one of each that ask for the same.
std::vector<PackageRecord> parts_of_cuda(const std::vector<PackageRecord>& records) {
    std::vector<PackageRecord> parts;
    std::set<std::string> known;
    for (const auto& record : records) {
        if (is_for_building(record.name) || tells_cuda_version(record.name)) continue;
        for (const auto& text : record.depends) {
            if (!tells_cuda_version(name_in_spec(text)) || !known.insert(text).second) continue;
            parts.push_back(record);
            break;
        }
    }
    return parts;
}

using Names = std::set<std::string>;

/// By platform, the packages that all classes of the default environment have.
std::map<std::string, Names> shared_names(const LockFile& lock) {
    std::map<std::string, Names> shared;
    for (const auto* locked : lock.default_classes()) {
        Names names;
        for (const auto place : locked->packages) names.insert(lock.packages[place].record.name);
        const auto [known, is_first] = shared.try_emplace(locked->platform, names);
        if (!is_first)
            std::erase_if(known->second, [&](const auto& name) { return !names.contains(name); });
    }
    return shared;
}

/// Whose GPUs builds are to be for on a machine.
class MeantVendors {
public:
    MeantVendors(AcceleratorWishes wishes,
                 const std::vector<PackageRecord>& machine,
                 const CudaLimits& limits)
        : machine_(machine), limits_(limits), wishes_(std::move(wishes)) {
        if (wishes_.all.empty()) wishes_.all.push_back(AcceleratorChoice::Conda);
        of_all_ = turns(choices_on(machine, wishes_.all));
    }

    /// Takes one of the class' packages for GPUs into account.
    void take(ClassFit& fit, const PackageRecord& record, Accelerator of, bool is_shared) const {
        if (take_obstacle(fit, record) || of == Accelerator::None) return;
        const int turn = turn_of(record.name, of);
        if (turn > 0 && is_shared) ++fit.shared_builds;
        if (fit.gpu > 0 && fit.gpu >= turn) return;
        fit.gpu = turn;
        fit.builds_for = of;
        fit.builds = builds(of, turn > 0);
    }

    /// Whether there is one.
    bool take_obstacle(ClassFit& fit, const PackageRecord& record) const {
        const auto obstacle = limits_.obstacle_of(record);
        if (obstacle)
            fit.will_not_run.push_back(
                fmt::format("{} {} {}", record.name, record.version, *obstacle));
        return obstacle.has_value();
    }

private:
    using Turns = std::map<Accelerator, int>;

    /// -1 where the vendor is not meant.
    int turn_of(const std::string& package, Accelerator of) const {
        const auto own = wishes_.of_package.find(package);
        const auto turns_of_it = own == wishes_.of_package.end() ? of_all_ : turns({own->second});
        const auto turn = turns_of_it.find(of);
        return turn == turns_of_it.end() ? -1 : turn->second;
    }

    /// The higher, the earlier it is to be tried; nothing for vendors that are not meant. Where it
    /// could be either of two, both have the same.
    Turns turns(const std::vector<AcceleratorChoice>& order) const {
        Turns turns;
        auto turn = static_cast<int>(order.size());
        for (const auto choice : order) {
            if (choice == AcceleratorChoice::None) break;
            auto vendor = vendor_of(choice);
            if (!vendor) vendor = found_accelerator({}, machine_);
            for (const auto& one : vendors()) {
                if (!vendor || one.accelerator == *vendor) turns.emplace(one.accelerator, turn);
            }
            --turn;
        }
        return turns;
    }

    GpuBuilds builds(Accelerator of, bool is_meant) const {
        if (!has_vendor(machine_, of))
            return is_meant ? GpuBuilds::ForGpuAskedFor : GpuBuilds::ForGpuNotThere;
        if (!is_meant) return GpuBuilds::ForGpuNotAskedFor;
        return has_device(machine_, of) ? GpuBuilds::ForGpuThere : GpuBuilds::ForDriverThere;
    }

    const std::vector<PackageRecord>& machine_;
    const CudaLimits& limits_;
    AcceleratorWishes wishes_;
    Turns of_all_;
};

/// The virtual packages of which the version is assumed.
Names assumed_names(const std::vector<PackageRecord>& virtual_packages) {
    Names names;
    for (const auto& record : virtual_packages) {
        if (is_assumed(record)) names.insert(record.name);
    }
    return names;
}

/// What a lock tells of the machines that its classes were made for, as far as that tells classes
/// apart: what hardware is by, as builds are preferred for it, and of the rest what some class asks
/// for. A kernel that nothing depends on is no reason to prefer another class.
MachinesOfClasses machines_of(const std::vector<const LockedClass*>& classes) {
    std::set<std::string> asked;
    for (const auto* locked : classes) {
        for (const auto& need : locked->needs) asked.emplace(name_in_spec(need));
    }
    std::vector<MachinesOfClasses::Machine> machines;
    const auto add = [&](std::size_t of_class, const std::vector<PackageRecord>& records) {
        if (records.empty()) return;  // it is not known
        auto parts = parts_of(records);
        std::erase_if(parts, [&](const MachinePart& part) {
            return (is_system_package(part.name) || part.name == "__glibc") &&
                   !asked.contains(part.name);
        });
        machines.push_back({of_class, std::move(parts)});
    };
    for (std::size_t i = 0; i < classes.size(); ++i) {
        add(i, as_virtual_packages(classes[i]->made_for));
        for (const auto& machine : classes[i]->also_made_for) add(i, as_virtual_packages(machine));
    }
    return MachinesOfClasses(std::move(machines));
}

}  // namespace

std::vector<std::string> useful_with(const LockFile& lock, const LockedClass& locked) {
    const auto records = lock.records_of(locked);
    return of_use(locked, records, restrictions_of(records, bounds_of(lock, locked, records)));
}

std::vector<std::string> restrictions_beside_needs(const LockFile& lock,
                                                   const LockedClass& locked) {
    const auto records = lock.records_of(locked);
    auto texts = restrictions_of(records, bounds_of(lock, locked, records));
    std::erase_if(texts, [&](const auto& text) { return demand(locked.needs, text); });
    return least_needs({}, texts);
}

const ClassFit* other_vendors(const std::vector<ClassFit>& fits) {
    const auto& best = fits.front();
    const auto other = std::ranges::find_if(fits, [&](const ClassFit& fit) {
        return fit.fits() && fit.gpu == best.gpu && fit.builds_for != best.builds_for;
    });
    return best.gpu > 0 && other != fits.end() ? &*other : nullptr;
}

ClassesOfLock::ClassesOfLock(const LockFile& lock) {
    const auto shared = shared_names(lock);
    made_for_ = machines_of(lock.default_classes());
    for (const auto* locked : lock.default_classes()) {
        Class one;
        one.locked = locked;
        one.wishes = accelerator_wishes(lock, *locked);
        auto records = lock.records_of(*locked);
        const auto bounds = bounds_of(lock, *locked, records);
        one.restrictions = restrictions_of(records, bounds);
        one.useful_with = of_use(*locked, records, one.restrictions);
        if (lock.tool != LockTool::Gpkg) {
            one.restricting = restricting_of(records, one.restrictions);
            one.restrictions.clear();
        }
        std::set<std::string_view> texts;
        for (const auto& record : records) {
            for (const auto& text : record.depends) {
                if (text.starts_with('_')) texts.insert(text);
            }
        }
        for (const auto text : texts) {
            if (auto spec = MatchSpec::parse(text)) one.on_machine.push_back(*std::move(spec));
        }
        if (bounds == DriverBounds::Count) one.parts = parts_of_cuda(records);
        for (auto& record : records) {
            const auto of = accelerator_of(record);
            if (of.accelerator == Accelerator::None && !of.is_for_either &&
                !least_device_of(record.name))
                continue;
            const bool is_shared = shared.at(locked->platform).contains(record.name);
            one.for_gpus.push_back({std::move(record), of.accelerator, is_shared});
        }
        classes_.push_back(std::move(one));
    }
}

std::vector<ClassFit> ClassesOfLock::fits(
    std::string_view platform, const std::vector<PackageRecord>& virtual_packages) const {
    const Cascade cascade(virtual_packages);
    const CudaLimits limits(virtual_packages);
    const auto machine = parts_of(virtual_packages);
    const auto assumed = assumed_names(virtual_packages);
    std::vector<ClassFit> fits;
    for (const auto& one : classes_) {
        const MeantVendors vendors(one.wishes, virtual_packages, limits);
        ClassFit fit;
        fit.locked = one.locked;
        auto asked = one.locked->needs;
        for (const auto& text : one.restrictions) {
            if (find_record(virtual_packages, name_in_spec(text)) != nullptr) asked.push_back(text);
        }
        fit.asked = least_needs({}, asked);
        fit.will_not_run = broken_on(virtual_packages, one.restricting);
        for (const auto& text : one.useful_with) {
            if (find_record(virtual_packages, name_in_spec(text)) == nullptr)
                fit.missed.push_back(text);
        }
        const auto index = fits.size();
        const bool is_for_it = !assumed.empty() && made_for_.is_for(index, machine, assumed);
        compare_needs(fit, platform, virtual_packages, is_for_it);
        for (const auto& [record, of, is_shared] : one.for_gpus)
            vendors.take(fit, record, of, is_shared);
        // What only needs some of it says nothing of GPUs itself: numba-cuda.
        for (const auto& record : one.parts) {
            if (fit.will_not_run.empty()) vendors.take_obstacle(fit, record);
        }
        for (const auto& spec : one.on_machine) fit.closeness.take(cascade.closeness(spec));
        fits.push_back(std::move(fit));
    }
    lock::rank_by_machines(fits, made_for_, machine);
    const auto is_made_for_it = [](const ClassFit& fit) { return fit.made_for > 0; };
    if (!assumed.empty() && std::ranges::none_of(fits, is_made_for_it))
        lock::rank_by_machines(fits, made_for_, machine, assumed);
    std::stable_sort(fits.begin(), fits.end(), [](const ClassFit& a, const ClassFit& b) {
        const auto order = lock::compare(a, b).order;
        return order != 0 ? order > 0 : a.locked->name < b.locked->name;
    });
    return fits;
}

std::vector<ClassFit> fits_of(const LockFile& lock,
                              std::string_view platform,
                              const std::vector<PackageRecord>& virtual_packages) {
    return ClassesOfLock(lock).fits(platform, virtual_packages);
}

}  // namespace gpkg
