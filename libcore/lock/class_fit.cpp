#include "libcore/lock/class_fit.hpp"

#include "libcore/solve/accelerators.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/asked_spec.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace gpkg {
namespace {

std::string told(const PackageRecord& machine) {
    return machine.name == "__archspec" ? machine.build : machine.version;
}

/// What the class' packages restrict of what the machine has: "__cuda >=13" of cuda-version.
std::vector<std::string> restrictions_of(const std::vector<PackageRecord>& records,
                                         bool only_builds,
                                         const std::vector<PackageRecord>& machine) {
    std::set<std::string> texts;
    for (const auto& record : records) {
        for (const auto& text : record.constrains) {
            if (!text.starts_with("__")) continue;
            const auto name = name_in_spec(text);
            const bool is_there = std::any_of(
                machine.begin(), machine.end(), [&](const auto& one) { return one.name == name; });
            if (!is_there || !may_restrict(record, name, only_builds)) continue;
            const auto spec = MatchSpec::parse(text);
            if (!spec || !spec->when) texts.insert(text);
        }
    }
    return {texts.begin(), texts.end()};
}

/// Where nobody says what was asked for, as in files of other tools: all of it.
std::vector<MatchSpec> asked_of(const LockFile& lock, const LockedClass& locked) {
    std::vector<MatchSpec> specs;
    if (lock.specs_of(locked).empty()) {
        for (const auto place : locked.packages)
            specs.emplace_back().name = lock.packages[place].record.name;
    }
    for (const auto& text : lock.specs_of(locked)) {
        if (auto spec = MatchSpec::parse(text)) specs.push_back(*std::move(spec));
    }
    return specs;
}

std::vector<std::string> unmet_of(const LockedClass& locked,
                                  const std::vector<std::string>& asked,
                                  std::string_view platform,
                                  const std::vector<PackageRecord>& machine) {
    if (locked.platform != platform)
        return {fmt::format("it is for {}, not for {}", locked.platform, platform)};
    std::vector<std::string> unmet;
    for (const auto& need : asked) {
        const auto spec = MatchSpec::parse(need);
        const bool is_met = spec && std::any_of(machine.begin(), machine.end(), [&](auto& one) {
                                return spec->matches(one);
                            });
        if (is_met) continue;
        const auto name = name_in_spec(need);
        const auto there = std::find_if(
            machine.begin(), machine.end(), [&](const auto& one) { return one.name == name; });
        unmet.push_back(there == machine.end()
                            ? fmt::format("it needs {}, and there is none", need)
                            : fmt::format("it needs {}, and there is {}", need, told(*there)));
    }
    return unmet;
}

/// The highest version that each virtual package must at least have.
std::map<std::string, Version> least_versions(const std::vector<std::string>& needs) {
    std::map<std::string, Version> least;
    for (const auto& need : needs) {
        const auto spec = MatchSpec::parse(need);
        if (!spec || !spec->version) continue;
        for (const auto& version : spec->version->own_literals()) {
            const auto [place, is_new] = least.emplace(spec->name, version);
            if (!is_new && place->second < version) place->second = version;
        }
    }
    return least;
}

/// Above 0 where the first asks for more of the first virtual package of which they ask for
/// different things.
int compare_least(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto first = least_versions(a);
    const auto second = least_versions(b);
    std::set<std::string> names;
    for (const auto* least : {&first, &second}) {
        for (const auto& [name, version] : *least) names.insert(name);
    }
    for (const auto& name : names) {
        const auto one = first.find(name);
        const auto other = second.find(name);
        if (one == first.end() || other == second.end()) {
            if (one != first.end()) return 1;
            return -1;
        }
        if (other->second < one->second) return 1;
        if (one->second < other->second) return -1;
    }
    return 0;
}

Accelerators accelerators_of(const LockRequest& request) {
    Accelerators accelerators;
    const auto wishes = parse_accelerator_wishes(request.accelerator);
    if (!wishes) return accelerators;
    if (!wishes->all.empty()) accelerators.all = wishes->all.front();
    accelerators.of_package = wishes->of_package;
    return accelerators;
}

}  // namespace

std::string advantage_of_first(const std::vector<ClassFit>& fits) {
    const auto& best = fits.front();
    if (fits.size() == 1 || !fits[1].fits()) return "is the only one that fits";
    const auto& next = fits[1];
    if (best.gpu != next.gpu)
        return best.gpu > 0 ? "has builds for the GPU that is there"
                            : "has no builds for a GPU that is not there";
    if (best.closeness.gpu != next.closeness.gpu) return "was made for more of this GPU";
    if (best.closeness.cpu != next.closeness.cpu) return "was made for more of this CPU";
    if (best.asked.size() != next.asked.size() || compare_least(best.asked, next.asked) != 0)
        return fmt::format("asks for more of what is there than {}", next.locked->name);
    return fmt::format("is as good as {}, and comes before it by name", next.locked->name);
}

std::vector<ClassFit> fits_of(const LockFile& lock,
                              std::string_view platform,
                              const std::vector<PackageRecord>& virtual_packages) {
    const Cascade cascade(virtual_packages);
    const auto vendor = found_accelerator({}, virtual_packages);
    const auto accelerators = accelerators_of(lock.request);
    std::vector<ClassFit> fits;
    for (const auto& locked : lock.classes) {
        if (locked.environment != kDefaultEnvironment) continue;
        ClassFit fit;
        fit.locked = &locked;
        const auto records = lock.records_of(locked);
        fit.asked = locked.needs;
        const bool only_builds =
            only_builds_for_nvidia(asked_of(lock, locked), records, accelerators);
        for (auto& text : restrictions_of(records, only_builds, virtual_packages)) {
            if (std::find(fit.asked.begin(), fit.asked.end(), text) == fit.asked.end())
                fit.asked.push_back(std::move(text));
        }
        fit.unmet = unmet_of(locked, fit.asked, platform, virtual_packages);
        for (const auto& record : records) {
            const auto of = accelerator_of(record).accelerator;
            // Where two vendors' GPUs are there, both count.
            if (of != Accelerator::None && fit.gpu <= 0)
                fit.gpu = !vendor || of == *vendor ? 1 : -1;
            for (const auto& text : record.depends) {
                if (!text.starts_with("_")) continue;
                if (const auto spec = MatchSpec::parse(text))
                    fit.closeness.take(cascade.closeness(*spec));
            }
        }
        fits.push_back(std::move(fit));
    }
    std::stable_sort(fits.begin(), fits.end(), [](const ClassFit& a, const ClassFit& b) {
        const auto key = [](const ClassFit& fit) {
            return std::tuple(fit.fits(), fit.gpu, fit.closeness, fit.asked.size());
        };
        if (key(a) != key(b)) return key(b) < key(a);
        const auto order = compare_least(a.asked, b.asked);
        return order != 0 ? order > 0 : a.locked->name < b.locked->name;
    });
    return fits;
}

}  // namespace gpkg
