#include "cli/workflow/requested.hpp"

#include "libcore/env/history.hpp"

namespace gpkg::cli {

Result<RequestedSpecs> requested_in(const fs::path& prefix,
                                    const std::vector<PrefixRecord>& records) {
    GPKG_TRY(const auto opened, Prefix::open(prefix));
    GPKG_TRY(const auto history, opened.history());
    auto by_history = requested_by_name(history);
    RequestedSpecs requested;
    for (const auto& record : records) {
        if (!record.requested_specs.empty())
            requested[record.name()] = record.requested_specs;
        else if (auto found = by_history.find(record.name()); found != by_history.end())
            requested[record.name()] = std::move(found->second);
    }
    return requested;
}

}  // namespace gpkg::cli
