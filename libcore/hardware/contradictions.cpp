#include "libcore/hardware/contradictions.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace gpkg {
namespace {

/// Packages that go with one range of releases.
struct Party {
    ToolkitRange range;
    std::vector<std::string> names;
};

bool overlap(const ToolkitRange& a, const ToolkitRange& b) {
    return a.first <= b.last && b.first <= a.last;
}

/// Of the parties of a vendor each takes in all that its first member goes with.
std::vector<Party> parties_of(const std::vector<PackageRecord>& records, Accelerator vendor) {
    std::vector<Party> parties;
    for (const auto& record : records) {
        const auto range = toolkit_of(record);
        if (!range || range->vendor != vendor) continue;
        const auto found = std::ranges::find_if(
            parties, [&](const Party& party) { return overlap(party.range, *range); });
        if (found == parties.end()) {
            parties.push_back({*range, {record.name}});
            continue;
        }
        found->names.push_back(record.name);
        found->range.first = std::max(found->range.first, range->first);
        found->range.last = std::min(found->range.last, range->last);
    }
    return parties;
}

std::optional<std::string> on_toolkits(const std::vector<PackageRecord>& records,
                                       Accelerator vendor) {
    const auto parties = parties_of(records, vendor);
    if (parties.size() < 2) return std::nullopt;
    std::vector<std::string> items;
    for (const auto& party : parties) {
        items.push_back(fmt::format("{} {} for {}",
                                    join_some(party.names, "and"),
                                    party.names.size() == 1 ? "is" : "are",
                                    party.range.to_string()));
    }
    return fmt::format(
        "{} versions that do not go together: {}", toolkit_title(vendor), fmt::join(items, "; "));
}

std::optional<std::string> on_framework(const PackageRecord& record,
                                        const std::vector<PackageRecord>& records) {
    const auto accelerator = accelerator_of(record).accelerator;
    if (accelerator == Accelerator::None) return std::nullopt;
    for (const auto& depend : record.depends) {
        const std::string name(name_in_spec(depend));
        const auto* framework = is_framework(name) ? find_record(records, name) : nullptr;
        if (framework == nullptr) continue;
        const auto of = accelerator_of(*framework);
        if (of.evidence.empty() || of.accelerator == accelerator) continue;
        return fmt::format("{} {} is a {} build and cannot be used with {} {}, a {} build",
                           record.name,
                           record.version,
                           compute_platform(accelerator),
                           framework->name,
                           framework->version,
                           compute_platform(of.accelerator));
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::string> contradictions_in(const std::vector<PackageRecord>& records) {
    std::vector<std::string> lines;
    for (const auto vendor : {Accelerator::Nvidia, Accelerator::Amd}) {
        if (auto line = on_toolkits(records, vendor)) lines.push_back(*std::move(line));
    }
    for (const auto& record : records) {
        if (auto line = on_framework(record, records)) lines.push_back(*std::move(line));
    }
    return lines;
}

}  // namespace gpkg
