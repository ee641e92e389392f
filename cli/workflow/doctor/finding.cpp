#include "cli/workflow/doctor/finding.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/order.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {

bool is_asked_for(const Checked& checked, const std::string& name) {
    return std::ranges::find(checked.wishes, name, &MatchSpec::name) != checked.wishes.end();
}

std::string best_known_of(const Checked& checked, const std::vector<std::string>& names) {
    const auto is_asked = [&](const std::string& name) { return is_asked_for(checked, name); };
    if (const auto known = std::ranges::find_if(names, is_asked); known != names.end())
        return *known;
    const auto graph = graph_of(checked.records, checked.wishes);
    std::vector<bool> named(graph.records().size());
    for (const auto& name : names) {
        if (const auto place = graph.find(name)) named[*place] = true;
    }
    const auto needing = graph.all_needing(std::move(named));
    for (const auto& wish : checked.wishes) {
        const auto place = graph.find(wish.name);
        if (!place || !needing[*place]) continue;
        const auto built = build_chosen_by(checked.records, wish.name);
        return built ? built->package : wish.name;
    }
    return names.front();
}

std::string with_variants_of(const Checked& checked, const std::vector<std::string>& names) {
    const auto is_asked = [&](const std::string& name) { return is_asked_for(checked, name); };
    const auto is_a_build = [&](const std::string& name) {
        const auto* record = find_record(checked.records, name);
        return record != nullptr && !accelerator_of(record->package).evidence.empty();
    };
    auto found = std::ranges::find_if(names, is_asked);
    if (found == names.end()) found = std::ranges::find_if(names, is_a_build);
    const auto& name = found == names.end() ? names.front() : *found;
    if (!tells_cuda_version(name)) return name;
    // Which CUDA there is hangs on the builds that go with one.
    const auto user = std::ranges::find_if(checked.records, [&](const PrefixRecord& record) {
        const auto& depends = record.package.depends;
        return is_a_build(record.name()) && !is_part_of_cuda(record.name()) &&
               !tells_cuda_version(record.name()) &&
               std::ranges::find(depends, name, name_in_spec) != depends.end();
    });
    return user == checked.records.end() ? name : user->name();
}

std::optional<BuildInName> build_chosen_by(const std::vector<PrefixRecord>& records,
                                           const std::string& name) {
    auto built = build_in_name(name);
    return built && find_record(records, built->package) != nullptr ? built : std::nullopt;
}

std::string for_no_gpu_of(const std::string& machine, Accelerator accelerator) {
    return fmt::format("is a {} build, but {} has no {} GPU",
                       compute_platform(accelerator),
                       machine,
                       vendor_title(accelerator));
}

std::string with_others(std::string message, const std::vector<std::string>& names) {
    const std::vector<std::string> others(names.begin() + 1, names.end());
    if (others.empty()) return message;
    return fmt::format("{}; the same for {}", message, join_some(others, "and"));
}

}  // namespace gpkg::cli
