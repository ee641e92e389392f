#include "libcore/asking/request.hpp"

#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/solve/machine_needs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace gpkg {
namespace {

using Specs = std::vector<MatchSpec>;

/// A change of python's minor version re-links half of an environment: only on request.
std::optional<MatchSpec> python_pin(const Present& present, const std::set<std::string>& named) {
    const auto* python = find_record(present.records, "python");
    if (python == nullptr || named.contains("python")) return std::nullopt;
    const auto parts = split(python->package.version, '.');
    if (parts.size() < 2) return std::nullopt;
    auto pin = MatchSpec::parse(fmt::format("python {}.{}.*", parts[0], parts[1]));
    return pin ? std::optional(*std::move(pin)) : std::nullopt;
}

/// Nor is CUDA's major version, which all that is for GPUs goes with, and what is compiled with it
/// outside of the environment too. One that the machine does not run is not held.
Specs cuda_pins(const Present& present,
                const std::set<std::string>& named,
                const std::vector<PackageRecord>& machine) {
    Specs pins;
    if (std::ranges::any_of(named, tells_cuda_version)) return pins;
    const CudaLimits limits(machine);
    for (const auto name : cuda_version_packages()) {
        const auto* cuda = find_record(present.records, name);
        if (cuda == nullptr || limits.obstacle_of(cuda->package)) continue;
        const auto major = split(cuda->package.version, '.').front();
        if (auto pin = MatchSpec::parse(fmt::format("{} {}.*", name, major)))
            pins.push_back(*std::move(pin));
    }
    return pins;
}

/// Of names alone, which are there: a version or a build that was not asked for before, what is
/// new, or another accelerator, may take from the rest what it needs.
bool is_plain_update(const Wanted& wanted, const Present& present) {
    const auto& names = wanted.update;
    const auto& wishes = present.wishes;
    return !names.empty() && wanted.accelerators.empty() &&
           std::all_of(wanted.specs.begin(), wanted.specs.end(), [&](const MatchSpec& spec) {
               MatchSpec bare;
               bare.name = spec.name;
               const bool is_old =
                   spec == bare || std::find(wishes.begin(), wishes.end(), spec) != wishes.end();
               return is_old && std::find(names.begin(), names.end(), spec.name) != names.end();
           });
}

/// Whether it asks for a CPU that the machine has not, as _x86_64-microarch-level does of another
/// node: an update of what goes with it is to bring what runs here.
bool is_of_other_cpu(const PackageRecord& record, const std::vector<PackageRecord>& machine) {
    return std::ranges::any_of(
        unmet_needs(record, machine, DriverBounds::Ignore),
        [](const auto& need) { return need.spec.name == "__archspec" && need.there != nullptr; });
}

/// Python's, those of what is named and those of what was asked for earlier. What does not run on
/// the machine may be replaced by what is older and does.
std::vector<MatchSpec> floors(const Wanted& wanted,
                              const Present& present,
                              const std::vector<PackageRecord>& machine) {
    const CudaLimits limits(machine);
    std::set<std::string> names(wanted.update.begin(), wanted.update.end());
    names.insert("python");
    for (const auto& wish : present.wishes) names.insert(wish.name);
    std::vector<MatchSpec> floors;
    for (const auto& name : names) {
        const auto* record = find_record(present.records, name);
        if (record == nullptr || limits.obstacle_of(record->package) ||
            is_of_other_cpu(record->package, machine))
            continue;
        if (auto floor = MatchSpec::parse(fmt::format("{} >={}", name, record->package.version)))
            floors.push_back(*std::move(floor));
    }
    return floors;
}

bool is_needed_by(const std::string& name,
                  const std::vector<std::string>& users,
                  const std::vector<PrefixRecord>& records) {
    return std::ranges::any_of(users, [&](const auto& user) {
        const auto* record = find_record(records, user);
        return user == name ||
               (record != nullptr &&
                std::ranges::any_of(record->package.depends, [&](const auto& depend) {
                    return name_in_spec(depend) == name;
                }));
    });
}

/// Whether an update is to bring another build of what is for another CPU.
bool is_left_out(const PrefixRecord& record,
                 const Wanted& wanted,
                 const Present& present,
                 const std::vector<PackageRecord>& machine) {
    return !present.keeps_other_cpu &&
           (wanted.update_all || is_needed_by(record.name(), wanted.update, present.records)) &&
           is_of_other_cpu(record.package, machine);
}

}  // namespace

Request request_of(const Wanted& wanted,
                   const Present& present,
                   const std::vector<PackageRecord>& machine) {
    Request request;
    request.accelerators = accelerators_of(wanted.accelerators, present.state);
    request.accelerators.all = request.accelerators.in_turn_on(machine).front();
    request.specs = wanted.specs;
    request.named = wanted.specs.size();
    request.update = wanted.update;
    request.update_all = wanted.update_all;
    request.no_dependencies = wanted.reach.no_deps;
    for (const auto& pin : present.pins) request.constraints.push_back({pin.spec});

    std::set<std::string> named;
    for (const auto& spec : wanted.specs) named.insert(spec.name);
    if (wanted.reach.freeze_installed || wanted.reach.no_deps) {
        freeze(request,
               present.records,
               named,
               wanted.reach.no_deps ? "--no-deps" : "--freeze-installed");
    } else {
        for (const auto& wish : present.wishes) {
            if (!named.contains(wish.name)) request.specs.push_back(wish);
        }
        // Also what is only looked at may be named to be moved.
        named.insert(wanted.update.begin(), wanted.update.end());
        if (auto pin = python_pin(present, named))
            request.constraints.push_back(
                {*std::move(pin),
                 "is kept: python keeps its minor version unless it is named",
                 Constraint::Holds::UntilNamed});
        // Where only what is asked for stays, what CUDA is for may leave.
        for (auto& pin : wanted.prune ? Specs() : cuda_pins(present, named, machine))
            request.constraints.push_back(
                {std::move(pin),
                 "is kept: CUDA keeps its major version unless it is named",
                 Constraint::Holds::WherePossible});
        if (is_plain_update(wanted, present)) {
            for (auto& floor : floors(wanted, present, machine))
                request.constraints.push_back({std::move(floor),
                                               "is kept: an update does not downgrade it",
                                               Constraint::Holds::WherePossible});
            for (auto& build : builds_kept(wanted, present))
                request.constraints.push_back({std::move(build),
                                               "is kept: an update keeps the requested build",
                                               Constraint::Holds::WherePossible});
        }
    }
    for (const auto& record : present.records) {
        if (!is_left_out(record, wanted, present, machine))
            request.installed.push_back(record.package);
        // What nobody asks for any more leaves a lock.
        if (!wanted.prune && !wanted.is_for_lock) request.keep.push_back(record.name());
    }
    if (wanted.is_for_lock) request.of_what = "the lock";
    return request;
}

std::vector<std::string> names_of(const Request& request) {
    std::vector<std::string> names = request.keep;
    const auto add = [&](const MatchSpec& spec) {
        if (spec.has_one_name()) names.push_back(spec.name);
    };
    for (const auto& spec : request.specs) add(spec);
    for (const auto& constraint : request.constraints) add(constraint.spec);
    for (const auto& record : request.installed) names.push_back(record.name);
    names.insert(names.end(), request.update.begin(), request.update.end());
    const auto& asked = request.accelerators.asked_packages;
    names.insert(names.end(), asked.begin(), asked.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<MatchSpec> builds_kept(const Wanted& wanted, const Present& present) {
    std::vector<MatchSpec> kept;
    if (!is_plain_update(wanted, present)) return kept;
    for (const auto& wish : present.wishes) {
        const bool is_named = std::ranges::find(wanted.update, wish.name) != wanted.update.end();
        if (!is_named || !wish.build || wish.build->is_exact() || wish.build->is_any()) continue;
        MatchSpec build;
        build.name = wish.name;
        build.build = wish.build;
        kept.push_back(std::move(build));
    }
    return kept;
}

bool leaves_out_other_cpu(const Wanted& wanted,
                          const Present& present,
                          const std::vector<PackageRecord>& machine) {
    return std::ranges::any_of(present.records, [&](const PrefixRecord& record) {
        return is_left_out(record, wanted, present, machine);
    });
}

}  // namespace gpkg
