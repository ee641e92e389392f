#include "libcore/solve/machine_needs.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <utility>

namespace gpkg {

bool may_restrict(const PackageRecord& record, std::string_view name, DriverBounds bounds) {
    return !(bounds == DriverBounds::Ignore && name.starts_with("__") &&
             tells_cuda_version(record.name));
}

std::vector<UnmetNeed> unmet_needs(const PackageRecord& record,
                                   const std::vector<PackageRecord>& machine,
                                   DriverBounds bounds) {
    std::vector<UnmetNeed> unmet;
    const auto take = [&](const std::vector<std::string>& texts, bool is_restriction) {
        for (const auto& text : texts) {
            if (!text.starts_with("__")) continue;
            auto spec = MatchSpec::parse(text);
            if (!spec || spec->when) continue;
            if (is_restriction && !may_restrict(record, spec->name, bounds)) continue;
            const auto* found = find_record(machine, spec->name);
            if (found == nullptr) {
                if (!is_restriction) unmet.push_back({*std::move(spec), nullptr});
            } else if (!spec->matches(*found)) {
                unmet.push_back({*std::move(spec), found});
            }
        }
    };
    take(record.depends, false);
    take(record.constrains, true);
    return unmet;
}

bool lacks_only_assumed(const PackageRecord& record, const std::vector<PackageRecord>& machine) {
    const auto unmet = unmet_needs(record, machine);
    return !unmet.empty() && std::all_of(unmet.begin(), unmet.end(), [](const UnmetNeed& need) {
        return need.there != nullptr && is_assumed(*need.there);
    });
}

}  // namespace gpkg
