#include "cli/workflow/settings_change.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/hardware/accelerator.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace gpkg::cli {
namespace {

void compare_variables(const Change& change,
                       const std::map<std::string, std::string>& present,
                       SettingsChange& settings) {
    for (const auto& [name, value] : change.variables) {
        const auto found = present.find(name);
        if (!value && found != present.end()) settings.unset.push_back(name);
        if (value && (found == present.end() || found->second != *value))
            settings.set.push_back(name);
    }
}

Result<void> compare_requested(const Prefix& prefix,
                               const RequestedSpecs& wanted,
                               SettingsChange& settings) {
    GPKG_TRY(const auto records, prefix.records());
    GPKG_TRY(const auto history, prefix.history());
    const auto by_history = requested_by_name(history);
    settings.requested_specs = !std::ranges::all_of(wanted, [&](const auto& entry) {
        const auto& [name, specs] = entry;
        const auto* record = find_record(records, name);
        const auto found = by_history.find(name);
        return (record == nullptr || record->requested_specs == specs) &&
               (found == by_history.end() ? specs.empty() : found->second == specs);
    });
    if (!settings.requested_specs) return {};
    GPKG_TRY(const auto before, requested_in(prefix.path(), records));
    settings.requested_changes = requested_changes(before, wanted);
    return {};
}

void compare_accelerator(const Change& change, const GpkgState& before, SettingsChange& settings) {
    if (change.state && change.state->accelerator != before.accelerator)
        settings.accelerator = builds_text(change.state->accelerator);
}

/// "requested specs (numpy<2 -> numpy; new: scipy)"; of many changes, only how many there are
std::string requested_text(const SettingsChange& settings) {
    constexpr std::size_t kMostTold = 5;
    const auto& changes = settings.requested_changes;
    if (changes.size() > kMostTold) return fmt::format("{} requested specs", changes.size());
    return changes.empty() ? "requested specs"
                           : fmt::format("requested specs ({})", join_first(changes, kMostTold));
}

}  // namespace

RequestedSpecs requested_by_name(const Change& change) {
    RequestedSpecs requested;
    for (const auto& spec : change.removed_specs) requested[spec_name(spec)];
    for (const auto& spec : change.requested) requested[spec.name].push_back(spec.to_string());
    return requested;
}

Result<SettingsChange> settings_change(const Change& change) {
    SettingsChange settings;
    if (change.creates) {
        compare_variables(change, {}, settings);
        compare_accelerator(change, {}, settings);
        return settings;
    }
    GPKG_TRY(const auto prefix, Prefix::open(change.prefix));
    if (!change.variables.empty()) {
        GPKG_TRY(const auto variables, prefix.env_vars());
        compare_variables(change, variables, settings);
    }
    GPKG_TRY(const auto state, prefix.state());
    compare_accelerator(change, state, settings);
    if (!change.is_nothing() && change.restores == 0) return settings;
    const auto requested = requested_by_name(change);
    GPKG_CHECK(compare_requested(prefix, requested, settings));
    if (change.state) {
        auto but_channels = *change.state;
        but_channels.channels = state.channels;
        settings.channels = change.state->channels != state.channels;
        settings.environment_settings = but_channels != state;
    }
    settings.package_metadata =
        !change.mended.empty() && (!requested.empty() || !change.variables.empty() || change.state);
    return settings;
}

std::string builds_text(const std::string& accelerator) {
    const auto choice = parse_accelerator_choice(accelerator);
    if (!choice) return "builds for this machine (no accelerator set)";
    const auto builds = [&] {
        switch (*choice) {
        case AcceleratorChoice::None: return "CPU builds only";
        case AcceleratorChoice::Nvidia: return "CUDA builds";
        case AcceleratorChoice::Amd: return "ROCm builds";
        case AcceleratorChoice::Auto: return "builds for this machine";
        case AcceleratorChoice::Conda: return "builds with the highest build number";
        }
        return "";
    }();
    return fmt::format("{} (accelerator {})", builds, accelerator);
}

std::string variables_text(const SettingsChange& settings) {
    std::vector<std::string> texts;
    const auto add = [&](std::string_view verb, const std::vector<std::string>& names) {
        if (!names.empty())
            texts.push_back(fmt::format("{} {}", verb, join_some(names, "and", names.size())));
    };
    add("set", settings.set);
    add("unset", settings.unset);
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string settings_text(const SettingsChange& settings) {
    std::vector<std::string> texts;
    if (settings.requested_specs) texts.push_back(requested_text(settings));
    if (settings.channels) texts.emplace_back("channels");
    if (settings.environment_settings) texts.emplace_back("environment settings");
    if (settings.package_metadata) texts.emplace_back("package metadata");
    return join_some(texts, "and", texts.size());
}

}  // namespace gpkg::cli
