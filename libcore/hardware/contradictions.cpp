#include "libcore/hardware/contradictions.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

namespace gpkg {
namespace {

/// Packages that go with one range of releases.
struct Party {
    ToolkitRange range;
    std::vector<std::string> names;
};

/// Of the parties of a vendor each takes in all that its first member goes with.
std::vector<Party> parties_of(const std::vector<PackageRecord>& records, Accelerator vendor) {
    std::vector<Party> parties;
    for (const auto& record : records) {
        const auto said = toolkit_of(record);
        if (!said || said->vendor != vendor) continue;
        const auto range = said->compatible();
        const auto found = std::ranges::find_if(
            parties, [&](const Party& party) { return party.range.overlaps(range); });
        if (found == parties.end()) {
            parties.push_back({range, {record.name}});
            continue;
        }
        found->names.push_back(record.name);
        found->range = found->range.common_with(range);
    }
    return parties;
}

std::optional<Contradiction> on_toolkits(const std::vector<PackageRecord>& records,
                                         Accelerator vendor) {
    const auto parties = parties_of(records, vendor);
    if (parties.size() < 2) return std::nullopt;
    std::vector<std::string> items;
    std::vector<std::string> packages;
    for (const auto& party : parties) {
        append(packages, party.names);
        items.push_back(fmt::format("{} {} for {}",
                                    join_some(party.names, "and"),
                                    party.names.size() == 1 ? "is" : "are",
                                    party.range.to_string()));
    }
    return Contradiction{
        std::string(compute_platform(vendor)),
        fmt::format("has versions that do not go together: {}; a program that loads several of "
                    "these may fail",
                    fmt::join(items, "; ")),
        std::move(packages),
        false};
}

std::optional<Contradiction> on_framework(const PackageRecord& record,
                                          const std::vector<PackageRecord>& records) {
    const auto accelerator = accelerator_of(record).accelerator;
    if (accelerator == Accelerator::None) return std::nullopt;
    for (const auto& depend : record.depends) {
        const std::string name(name_in_spec(depend));
        const auto* framework = is_framework(name) ? find_record(records, name) : nullptr;
        if (framework == nullptr) continue;
        const auto of = accelerator_of(*framework);
        if (of.evidence.empty() || of.accelerator == accelerator) continue;
        return Contradiction{
            record.name,
            fmt::format("{} is a {} build and cannot be used with {} {}, a {} build",
                        record.version,
                        compute_platform(accelerator),
                        framework->name,
                        framework->version,
                        compute_platform(of.accelerator)),
            {record.name, framework->name},
            true};
    }
    return std::nullopt;
}

}  // namespace

std::vector<Contradiction> contradictions_in(const std::vector<PackageRecord>& records) {
    std::vector<Contradiction> found;
    for (const auto& vendor : vendors()) {
        if (auto line = on_toolkits(records, vendor.accelerator)) found.push_back(*std::move(line));
    }
    for (const auto& record : records) {
        if (auto line = on_framework(record, records)) found.push_back(*std::move(line));
    }
    return found;
}

}  // namespace gpkg
