#include "cli/workflow/ask/accelerators.hpp"

#include <algorithm>

namespace gpkg::cli {
namespace {

using Choice = AcceleratorChoice;

/// A state that makes no sense was refused when it was read.
Choice read(const std::string& text) {
    return parse_accelerator_choice(text).value_or(Choice::Auto);
}

std::vector<Choice> asked_earlier(const GpkgState& state) {
    std::vector<Choice> choices;
    for (const auto& text : state.accelerator_asked) choices.push_back(read(text));
    if (choices.empty()) choices.push_back(read(state.accelerator));
    return choices;
}

/// What is to be tried where nothing else is said.
std::vector<Choice> remembered(const GpkgState& state) {
    if (state.accelerator.empty()) return asked_earlier(state);
    return {read(state.accelerator)};
}

void add_once(std::vector<Choice>& choices, const std::vector<Choice>& more) {
    for (const auto choice : more) {
        if (std::find(choices.begin(), choices.end(), choice) == choices.end())
            choices.push_back(choice);
    }
}

}  // namespace

Accelerators accelerators_of(const AcceleratorWishes& wishes, const GpkgState& state) {
    Accelerators accelerators;
    accelerators.all = wishes.all.empty() ? remembered(state).front() : wishes.all.front();
    for (const auto& [name, text] : state.package_accelerators)
        accelerators.of_package[name] = read(text);
    // Where auto holds already, to say it again asks for no change.
    const std::vector<Choice> automatic{Choice::Auto};
    const bool is_said_again = wishes.all == automatic && remembered(state) == automatic;
    accelerators.all_is_asked =
        (!wishes.all.empty() && !is_said_again) || !wishes.fallbacks.empty();
    for (const auto& [name, choice] : wishes.of_package) {
        accelerators.of_package[name] = choice;
        accelerators.asked_packages.insert(name);
    }
    return accelerators;
}

std::vector<AcceleratorChoice> accelerators_to_try(
    const AcceleratorWishes& wishes,
    const GpkgState& state,
    const std::vector<PackageRecord>& virtual_packages) {
    auto order = wishes.all.empty() ? remembered(state) : wishes.all;
    order.insert(order.end(), wishes.fallbacks.begin(), wishes.fallbacks.end());
    return choices_on(virtual_packages, std::move(order));
}

Result<void> heed_usual_accelerator(const Context& context, AcceleratorWishes& wishes) {
    const auto& usual = context.config.accelerator.value;
    if (usual.empty() || !wishes.all.empty() || !wishes.fallbacks.empty()) return {};
    GPKG_TRY(wishes.all, parse_accelerator_choices(usual));
    return {};
}

GpkgState state_of(const AcceleratorWishes& wishes) {
    GpkgState state;
    remember(state, wishes);
    return state;
}

void remember(GpkgState& state, const AcceleratorWishes& wishes) {
    for (const auto& [name, choice] : wishes.of_package)
        state.package_accelerators[name] = to_string(choice);
    if (wishes.all.empty() && wishes.fallbacks.empty()) return;
    std::vector<Choice> asked;
    add_once(asked, wishes.all.empty() ? asked_earlier(state) : wishes.all);
    add_once(asked, wishes.fallbacks);
    state.accelerator.clear();
    state.accelerator_asked.clear();
    if (asked.size() == 1) {
        state.accelerator = to_string(asked.front());
        return;
    }
    for (const auto choice : asked) state.accelerator_asked.emplace_back(to_string(choice));
}

void remember_taken(GpkgState& state,
                    AcceleratorChoice taken,
                    const std::vector<PackageRecord>& records) {
    if (!state.accelerator.empty() || state.accelerator_asked.empty()) return;
    const bool shows = std::any_of(records.begin(), records.end(), [&](const auto& record) {
        return !state.package_accelerators.contains(record.name) &&
               !accelerator_of(record).evidence.empty();
    });
    if (shows) state.accelerator = to_string(taken);
}

std::optional<GpkgState> state_without(const GpkgState& state,
                                       const std::vector<PrefixRecord>& gone) {
    auto left = state;
    std::erase_if(left.package_accelerators,
                  [&](const auto& entry) { return find_record(gone, entry.first) != nullptr; });
    return left == state ? std::nullopt : std::optional(std::move(left));
}

}  // namespace gpkg::cli
