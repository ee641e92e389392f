#include "cli/workflow/ask/accelerators.hpp"

#include <algorithm>

namespace gpkg::cli {
namespace {

using Choice = AcceleratorChoice;

bool is_there(Choice choice, const std::vector<PackageRecord>& virtual_packages) {
    if (choice == Choice::Nvidia) return has_vendor(virtual_packages, Accelerator::Nvidia);
    if (choice == Choice::Amd) return has_vendor(virtual_packages, Accelerator::Amd);
    return true;
}

/// A state that makes no sense was refused when the request was made.
Choice remembered(const GpkgState& state) {
    return parse_accelerator_choice(state.accelerator).value_or(Choice::Auto);
}

}  // namespace

Result<Accelerators> accelerators_of(const AcceleratorWishes& wishes, const GpkgState& state) {
    const auto read = [](const std::string& text) {
        auto choice = parse_accelerator_choice(text);
        if (!choice) {
            choice.error().kind = ErrorKind::Parse;
        }
        return choice;
    };
    Accelerators accelerators;
    accelerators.all = Choice::Auto;
    if (!state.accelerator.empty()) {
        GPKG_TRY(accelerators.all, read(state.accelerator));
    }
    for (const auto& [name, text] : state.package_accelerators) {
        GPKG_TRY(accelerators.of_package[name], read(text));
    }
    if (!wishes.all.empty()) accelerators.all = wishes.all.front();
    accelerators.all_is_asked = !wishes.all.empty() || !wishes.fallbacks.empty();
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
    auto order = wishes.all;
    if (order.empty()) order.push_back(remembered(state));
    order.insert(order.end(), wishes.fallbacks.begin(), wishes.fallbacks.end());
    if (order.size() == 1) return order;
    const auto last = order.back();
    std::erase_if(order, [&](Choice choice) { return !is_there(choice, virtual_packages); });
    if (order.empty()) order.push_back(last);
    return order;
}

GpkgState state_of(const AcceleratorWishes& wishes) {
    GpkgState state;
    // Of several the first that works is remembered, and nothing was tried.
    if (wishes.all.size() == 1) state.accelerator = to_string(wishes.all.front());
    for (const auto& [name, choice] : wishes.of_package)
        state.package_accelerators[name] = to_string(choice);
    return state;
}

std::optional<GpkgState> state_without(const GpkgState& state,
                                       const std::vector<PrefixRecord>& gone) {
    auto left = state;
    std::erase_if(left.package_accelerators,
                  [&](const auto& entry) { return find_record(gone, entry.first) != nullptr; });
    return left == state ? std::nullopt : std::optional(std::move(left));
}

}  // namespace gpkg::cli
