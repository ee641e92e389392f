#include "libcore/classes/class_order_internal.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gpkg::lock {
namespace {

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

bool has_driver_of(const MachineParts& machine, Accelerator vendor) {
    return std::ranges::any_of(
        machine, [&](const auto& part) { return tells_of_vendor(part.name, vendor); });
}

/// The vendors of whose GPUs the machine has one, and some class has builds for it.
std::vector<Accelerator> vendors_in_use(const std::vector<ClassFit>& fits,
                                        const MachineParts& machine) {
    std::vector<Accelerator> in_use;
    for (const auto& vendor : vendors()) {
        const auto is_for_it = [&](const ClassFit& fit) {
            return fit.gpu > 0 && fit.builds_for == vendor.accelerator;
        };
        if (has_driver_of(machine, vendor.accelerator) && std::ranges::any_of(fits, is_for_it))
            in_use.push_back(vendor.accelerator);
    }
    return in_use;
}

template <typename T>
int sign_of(const T& a, const T& b) {
    return a == b ? 0 : b < a ? 1 : -1;
}

}  // namespace

void rank_by_machines(std::vector<ClassFit>& fits,
                      const MachinesOfClasses& made_for,
                      const MachineParts& machine,
                      const std::set<std::string>& unknown) {
    const auto vendors = vendors_in_use(fits, machine);
    const auto has_such_gpu = [&](const MachineParts& one) {
        return vendors.empty() || std::ranges::any_of(vendors, [&](Accelerator vendor) {
                   return has_driver_of(one, vendor);
               });
    };
    const auto covered = made_for.covered_by(machine, fits.size(), unknown, has_such_gpu);
    for (std::size_t i = 0; i < fits.size(); ++i) fits[i].made_for = covered[i];
}

Comparison compare(const ClassFit& a, const ClassFit& b) {
    if (a.fits() != b.fits()) return {a.fits() ? 1 : -1, Advantage::Fits};
    if (const auto order = sign_of(a.runs(), b.runs())) return {order, Advantage::Runs};
    if (const auto order = sign_of(std::max(a.gpu, 0), std::max(b.gpu, 0)))
        return {order, b.gpu > 0 ? Advantage::EarlierGpu : Advantage::Builds};
    if (const auto order = sign_of(a.made_for, b.made_for)) return {order, Advantage::MadeFor};
    if (const auto order = sign_of(a.shared_builds, b.shared_builds))
        return {order, Advantage::MoreBuilds};
    if (const auto order = sign_of(a.gpu, b.gpu)) return {order, Advantage::NoBuilds};
    if (const auto order = sign_of(a.closeness.gpu, b.closeness.gpu))
        return {order, Advantage::CloserGpu};
    if (const auto order = sign_of(a.closeness.cpu, b.closeness.cpu))
        return {order, Advantage::CloserCpu};
    if (const auto order = sign_of(a.asked.size(), b.asked.size()))
        return {order, Advantage::AsksMore};
    return {compare_least(a.asked, b.asked), Advantage::AsksMore};
}

}  // namespace gpkg::lock
