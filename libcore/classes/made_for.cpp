#include "libcore/classes/made_for.hpp"

#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpkg {
namespace {

bool has_all(const MachineParts& machine,
             const MachineParts& made_for,
             const std::set<std::string>& unknown = {}) {
    return std::ranges::all_of(made_for, [&](const MachinePart& wanted) {
        if (unknown.contains(wanted.name)) return true;
        const auto found = std::ranges::find(machine, wanted.name, &MachinePart::name);
        if (found == machine.end()) return false;
        if (wanted.name != "__archspec")
            return found->version && wanted.version && *wanted.version <= *found->version;
        if (found->build == wanted.build) return true;
        const auto line = lineage(found->build);
        return std::ranges::find(line, wanted.build) != line.end();
    });
}

}  // namespace

MachineParts parts_of(const std::vector<PackageRecord>& virtual_packages) {
    MachineParts parts;
    for (const auto& record : virtual_packages) {
        auto version = version_of(record);
        parts.push_back({record.name,
                         version ? std::optional(*std::move(version)) : std::nullopt,
                         record.build});
    }
    return parts;
}

MachinesOfClasses::MachinesOfClasses(std::vector<Machine> all) : all_(std::move(all)) {
    for (const auto& one : all_) {
        auto& covers = covers_.emplace_back();
        for (const auto& other : all_) covers.push_back(has_all(one.parts, other.parts) ? 1 : 0);
    }
}

std::vector<std::size_t> MachinesOfClasses::covered_by(
    const MachineParts& machine,
    std::size_t classes,
    const std::set<std::string>& unknown,
    const std::function<bool(const MachineParts&)>& counts) const {
    std::vector<std::uint8_t> is_covered;
    for (const auto& [of_class, parts] : all_)
        is_covered.push_back(counts(parts) && has_all(machine, parts, unknown) ? 1 : 0);
    std::vector<std::size_t> most(classes, 0);
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (is_covered[i] == 0) continue;
        const auto no_more = std::inner_product(
            is_covered.begin(), is_covered.end(), covers_[i].begin(), std::size_t{0});
        most[all_[i].of_class] = std::max(most[all_[i].of_class], no_more);
    }
    return most;
}

bool MachinesOfClasses::is_for(std::size_t of_class,
                               const MachineParts& machine,
                               const std::set<std::string>& unknown) const {
    return std::ranges::any_of(all_, [&](const Machine& one) {
        return one.of_class == of_class && has_all(machine, one.parts, unknown);
    });
}

}  // namespace gpkg
