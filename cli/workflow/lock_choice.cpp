#include "cli/workflow/lock_choice.hpp"

#include "libcore/solve/accelerators.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace gpkg::cli {
namespace {

std::vector<std::string> unmet_of(const LockedClass& locked,
                                  std::string_view platform,
                                  const std::vector<PackageRecord>& machine) {
    if (locked.platform != platform)
        return {fmt::format("it is for {}, not for {}", locked.platform, platform)};
    std::vector<std::string> unmet;
    for (const auto& need : locked.needs) {
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
                            : fmt::format("it needs {}, and there is {}", need, there->version));
    }
    return unmet;
}

/// The highest version that each virtual package must at least have.
std::map<std::string, Version> least_versions(const std::vector<std::string>& needs) {
    std::map<std::string, Version> least;
    for (const auto& need : needs) {
        const auto spec = MatchSpec::parse(need);
        if (!spec || !spec->version) continue;
        for (const auto& version : spec->version->literals()) {
            if (!spec->version->matches(version)) continue;
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

}  // namespace

std::string ClassFit::advantage() const {
    if (is_for_gpu) return "has builds for the GPU that is there";
    if (closeness != Closeness{}) return "was made for this CPU";
    return "asks for nothing that this machine lacks";
}

std::vector<ClassFit> fits_of(const LockFile& lock,
                              std::string_view platform,
                              const std::vector<PackageRecord>& virtual_packages) {
    const Cascade cascade(virtual_packages);
    const auto vendor = found_accelerator({}, virtual_packages);
    std::vector<ClassFit> fits;
    for (const auto& locked : lock.classes) {
        if (locked.environment != kDefaultEnvironment) continue;
        ClassFit fit;
        fit.locked = &locked;
        fit.unmet = unmet_of(locked, platform, virtual_packages);
        for (const auto& record : lock.records_of(locked)) {
            const auto of = accelerator_of(record).accelerator;
            // Where two vendors' GPUs are there, both count.
            fit.is_for_gpu =
                fit.is_for_gpu || (of != Accelerator::None && (!vendor || of == *vendor));
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
            return std::tuple(fit.fits(), fit.is_for_gpu, fit.closeness, fit.locked->needs.size());
        };
        if (key(a) != key(b)) return key(b) < key(a);
        const auto order = compare_least(a.locked->needs, b.locked->needs);
        return order != 0 ? order > 0 : a.locked->name < b.locked->name;
    });
    return fits;
}

}  // namespace gpkg::cli
