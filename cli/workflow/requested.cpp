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
    std::vector<std::string> added;
    std::vector<std::string> removed;
    lines.reserve(after.size());
    for (const auto& [name, specs] : after) {
        auto old = typed_specs(before, name);
        auto now = typed_specs(after, name);
        if (old == now) continue;
        if (old.empty())
            added.push_back(std::move(now));
        else if (now.empty())
            removed.push_back(std::move(old));
        else
            lines.push_back(fmt::format("{} -> {}", old, now));
    }
    if (!added.empty()) lines.push_back(fmt::format("new: {}", fmt::join(added, ", ")));
    if (!removed.empty()) lines.push_back(fmt::format("removed: {}", fmt::join(removed, ", ")));
    return lines;
}

}  // namespace gpkg::cli
