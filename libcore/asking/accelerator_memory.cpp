#include "libcore/asking/accelerator_memory.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
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

/// What is asked for from now on.
std::vector<Choice> asked_now(const AcceleratorWishes& wishes, const GpkgState& state) {
    std::vector<Choice> asked;
    add_once(asked, wishes.all.empty() ? asked_earlier(state) : wishes.all);
    add_once(asked, wishes.fallbacks);
    return asked;
}

/// What is to be tried, in this order. Who says what was said already, as with each update from the
/// same environment.yml, may get what comes before the one that was taken, and nothing behind it.
std::vector<Choice> to_try(const AcceleratorWishes& wishes, const GpkgState& state) {
    if (!says_all(wishes)) return remembered(state);
    auto asked = asked_now(wishes, state);
    if (state.accelerator.empty() || asked != asked_earlier(state)) return asked;
    const auto taken = std::find(asked.begin(), asked.end(), read(state.accelerator));
    if (taken != asked.end()) asked.erase(taken + 1, asked.end());
    return asked;
}

/// Whether what is installed may change to another.
bool asks_for_change(const AcceleratorWishes& wishes, const GpkgState& state) {
    return says_all(wishes) && (asked_now(wishes, state) != asked_earlier(state) ||
                                to_try(wishes, state) != remembered(state));
}

}  // namespace

bool says_all(const AcceleratorWishes& wishes) {
    return !wishes.all.empty() || !wishes.fallbacks.empty();
}

Accelerators accelerators_of(const AcceleratorWishes& wishes, const GpkgState& state) {
    Accelerators accelerators;
    accelerators.in_turn = to_try(wishes, state);
    accelerators.all = accelerators.in_turn.front();
    accelerators.all_is_asked = asks_for_change(wishes, state);
    for (const auto& [name, text] : state.package_accelerators)
        accelerators.of_package[name] = read(text);
    for (const auto& [name, choice] : wishes.of_package) {
        accelerators.of_package[name] = choice;
        accelerators.asked_packages.insert(name);
    }
    return accelerators;
}

std::vector<std::string> notes_on_own_choices(const AcceleratorWishes& wishes,
                                              const GpkgState& state,
                                              const std::vector<std::string>& names) {
    std::vector<std::string> notes;
    if (wishes.all.empty()) return notes;
    const auto all = to_string(wishes.all.front());
    for (const auto& [name, own] : state.package_accelerators) {
        if (own == all || wishes.of_package.contains(name) ||
            std::ranges::find(names, name) == names.end())
            continue;
        notes.push_back(
            fmt::format("--accel does not change {0}, which was requested with accel={1}; to "
                        "change it: {0}[accel={2}]",
                        name,
                        own,
                        all));
    }
    return notes;
}

std::optional<std::string> note_on_no_gpu_build(const AcceleratorWishes& wishes,
                                                const std::vector<MatchSpec>& specs,
                                                const std::vector<PackageRecord>& records) {
    if (wishes.all.size() != 1 || !wishes.fallbacks.empty()) return std::nullopt;
    const auto vendor = vendor_of(wishes.all.front());
    if (!vendor) return std::nullopt;
    for (const auto& record : records) {
        if (!accelerator_of(record).evidence.empty() || is_vendor_part(record.name))
            return std::nullopt;
    }
    std::vector<std::string> names;
    for (const auto& spec : specs) {
        const auto* record = find_record(records, spec.name);
        if (record != nullptr) names.push_back(fmt::format("{} {}", record->name, record->version));
    }
    if (names.empty() && records.empty()) return std::nullopt;
    if (names.empty())
        return fmt::format("accelerator {} has no effect yet: no package has {} builds",
                           to_string(wishes.all.front()),
                           compute_platform(*vendor));
    names.emplace_back(names.size() == 1 ? "its dependencies" : "their dependencies");
    return fmt::format("accelerator {} has no effect yet: {} have no {} builds",
                       to_string(wishes.all.front()),
                       join_some(names, "and"),
                       compute_platform(*vendor));
}

GpkgState remembered(const AcceleratorWishes& wishes) {
    GpkgState state;
    remember(state, wishes);
    return state;
}

void remember(GpkgState& state, const AcceleratorWishes& wishes) {
    for (const auto& [name, choice] : wishes.of_package)
        state.package_accelerators[name] = to_string(choice);
    if (!says_all(wishes) || (!state.accelerator.empty() && !asks_for_change(wishes, state)))
        return;
    const auto asked = asked_now(wishes, state);
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

}  // namespace gpkg
