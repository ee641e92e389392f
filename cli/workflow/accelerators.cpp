#include "cli/workflow/accelerators.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gpkg::cli {
namespace {

using Choice = AcceleratorChoice;

bool is_there(Choice choice, const std::vector<PackageRecord>& virtual_packages) {
    const auto has = [&](std::initializer_list<std::string_view> names) {
        return std::any_of(
            virtual_packages.begin(), virtual_packages.end(), [&](const PackageRecord& record) {
                return std::find(names.begin(), names.end(), record.name) != names.end();
            });
    };
    if (choice == Choice::Nvidia) return has({"__cuda", "__cuda_arch"});
    if (choice == Choice::Amd) return has({"__amdgpu", "__amdgpu_arch", "__rocm"});
    return true;
}

/// A state that makes no sense was refused when the request was made.
Choice remembered(const GpkgState& state) {
    return parse_accelerator_choice(state.accelerator).value_or(Choice::Auto);
}

bool has_builds_for(const Outcome& outcome, Accelerator vendor) {
    const auto* solution = std::get_if<Solution>(&outcome);
    return solution != nullptr &&
           std::any_of(solution->records.begin(),
                       solution->records.end(),
                       [&](const PackageRecord& record) {
                           return accelerator_of(record).accelerator == vendor;
                       });
}

std::set<std::string> titles(const Outcome& outcome) {
    std::set<std::string> titles;
    if (const auto* solution = std::get_if<Solution>(&outcome)) {
        for (const auto& record : solution->records) titles.insert(record.distribution());
    }
    return titles;
}

/// The packages by which one answer differs from another, "pytorch-2.9.1-cuda129_0".
std::string what_is_only_in(const Outcome& outcome, const std::set<std::string>& other) {
    const auto* solution = std::get_if<Solution>(&outcome);
    std::vector<std::string> own;
    for (const auto& record : solution->records) {
        if (!other.contains(record.distribution()) &&
            accelerator_of(record).accelerator != Accelerator::None)
            own.push_back(record.distribution());
    }
    return own.empty() ? "none of its builds" : join_some(own, "and", 2);
}

}  // namespace

Result<Accelerators> accelerators_of(const AcceleratorWishes& wishes, const GpkgState& state) {
    const auto read = [](const std::string& text) {
        auto choice = parse_accelerator_choice(text);
        if (!choice) {
            choice.error().kind = ErrorKind::Parse;
            choice.error().message = "conda-meta/gpkg.json: " + choice.error().message;
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

Result<void> settle_vendor(Context& context, Question& question) {
    auto& [wanted, present, problem, channels, machine] = question;
    auto& accelerators = problem.request.accelerators;
    const auto order =
        accelerators_to_try(wanted.accelerators, present.state, problem.virtual_packages);
    if (order.front() != Choice::Auto ||
        found_accelerator(problem.request.installed, problem.virtual_packages))
        return {};
    const auto answer_for = [&](Accelerator vendor) {
        auto copy = question;
        copy.problem.request.accelerators.preferred = vendor;
        return answer_to(copy);
    };
    GPKG_TRY(const auto nvidia, answer_for(Accelerator::Nvidia));
    GPKG_TRY(const auto amd, answer_for(Accelerator::Amd));
    const bool has_amd = has_builds_for(amd, Accelerator::Amd);
    accelerators.preferred = has_amd ? Accelerator::Amd : Accelerator::Nvidia;
    const auto with_nvidia = titles(nvidia);
    const auto with_amd = titles(amd);
    if (!has_amd || !has_builds_for(nvidia, Accelerator::Nvidia) || with_nvidia == with_amd)
        return {};

    const auto what = fmt::format(
        "{} has GPUs of two vendors, and what is chosen depends on which is meant: nvidia brings "
        "{}, amd brings {}",
        problem.machine,
        what_is_only_in(nvidia, with_amd),
        what_is_only_in(amd, with_nvidia));
    if (!context.out.can_ask())
        return fail(ErrorKind::Usage, what, "say --accel nvidia, --accel amd or --accel none");
    const auto answer = context.out.ask(what + "\nnvidia, amd or none?", context.stop);
    if (!answer) return fail(ErrorKind::Interrupted, "nothing was changed");
    GPKG_TRY(const auto choice, parse_accelerator_choice(trim(*answer)));
    wanted.accelerators.override_with({{choice}, {}, {}});
    GPKG_TRY(accelerators, accelerators_of(wanted.accelerators, present.state));
    return {};
}

std::optional<GpkgState> state_after(const Question& question,
                                     const std::vector<PackageRecord>& records) {
    const auto& wishes = question.wanted.accelerators;
    auto state = question.present.state;
    const auto& accelerators = question.problem.request.accelerators;
    if (accelerators.all_is_asked) state.accelerator = to_string(accelerators.all);
    for (const auto& [name, choice] : wishes.of_package)
        state.package_accelerators[name] = to_string(choice);
    std::erase_if(state.package_accelerators, [&](const auto& entry) {
        return std::none_of(records.begin(), records.end(), [&](const PackageRecord& record) {
            return record.name == entry.first;
        });
    });
    return state == question.present.on_disk ? std::nullopt : std::optional(std::move(state));
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
