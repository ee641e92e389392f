#include "libcore/plan/amd_plan.hpp"

#include "libcore/hardware/gpu_targets.hpp"

#include <set>

namespace gpkg {

AmdPlan plan_amd(const std::vector<std::string>& devices, bool generic) {
    std::map<std::string_view, std::set<std::string>> families;
    for (const auto& device : devices) families[generic_target(device)].insert(device);
    AmdPlan plan;
    std::set<std::string> targets;
    for (const auto& [family, members] : families) {
        const bool together = generic && !family.empty() && members.size() > 1;
        for (const auto& member : members) {
            const auto target = together ? std::string(family) : member;
            targets.insert(target);
            plan.served_by[member] = target;
        }
    }
    plan.targets.assign(targets.begin(), targets.end());
    return plan;
}

}  // namespace gpkg
