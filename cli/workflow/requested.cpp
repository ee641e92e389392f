#include "cli/workflow/requested.hpp"

#include "cli/workflow/installed.hpp"
#include "libcore/env/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

std::string typed_specs(const RequestedSpecs& requested, const std::string& name) {
    const auto found = requested.find(name);
    if (found == requested.end()) return {};
    std::vector<std::string> texts;
    texts.reserve(found->second.size());
    for (const auto& spec : found->second) texts.push_back(typed_spec(spec));
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

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

std::vector<std::string> requested_changes(const RequestedSpecs& before,
                                           const RequestedSpecs& after) {
    std::vector<std::string> lines;
    lines.reserve(after.size());
    for (const auto& [name, specs] : after) {
        const auto old = typed_specs(before, name);
        const auto now = typed_specs(after, name);
        if (old == now) continue;
        lines.push_back(old.empty()   ? fmt::format("new: {}", now)
                        : now.empty() ? fmt::format("removed: {}", old)
                                      : fmt::format("{} -> {}", old, now));
    }
    return lines;
}

}  // namespace gpkg::cli
