#include "cli/workflow/health/offered_builds.hpp"

#include "cli/workflow/ask/found.hpp"
#include "libcore/hardware/cascade.hpp"
#include "libcore/solve/machine_needs.hpp"

#include <algorithm>

namespace gpkg::cli {

bool is_offered(Context& context,
                SourceOptions sources,
                const std::vector<PackageRecord>& machine,
                const std::string& name,
                Accelerator accelerator) {
    sources.offline = true;
    MatchSpec spec;
    spec.name = name;
    auto inquiry = Inquiry::begin(context, spec, std::move(sources), Extent::Named);
    if (!inquiry) return false;
    const std::vector<std::string> names{name};
    auto indexes = inquiry->channels.look_up(names);
    if (!indexes) return false;
    inquiry->searched.indexes = *std::move(indexes);
    const auto records = find_records(spec, names, inquiry->searched);
    if (!records) return false;
    const Cascade cascade(machine);
    return std::ranges::any_of(*records, [&](const PackageRecord& record) {
        return accelerator_of(record).accelerator == accelerator &&
               unmet_needs(record, machine).empty() && !cascade.obstacle_of(record);
    });
}

}  // namespace gpkg::cli
