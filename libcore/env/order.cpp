#include "libcore/env/order.hpp"

#include <algorithm>

namespace gpkg {

RecordGraph graph_of(const std::vector<PrefixRecord>& installed,
                     const std::vector<MatchSpec>& also) {
    std::vector<PackageRecord> packages;
    auto requested = also;
    packages.reserve(installed.size());
    for (const auto& record : installed) {
        packages.push_back(record.package);
        // Another tool's spec may be beyond reading; extras are not in it then.
        for (const auto& text : record.requested_specs) {
            if (auto spec = MatchSpec::parse(text)) requested.push_back(*std::move(spec));
        }
    }
    return RecordGraph(std::move(packages), requested);
}

std::vector<PrefixRecord> dependents_first(std::vector<PrefixRecord> installed) {
    auto places = graph_of(installed).dependencies_first();
    std::reverse(places.begin(), places.end());
    std::vector<PrefixRecord> ordered;
    ordered.reserve(installed.size());
    for (const auto place : places) ordered.push_back(std::move(installed[place]));
    return ordered;
}

}  // namespace gpkg
