#include "libcore/solve/hardware_space.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version_range.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

constexpr std::string_view kCuda = "__cuda";
constexpr std::string_view kAmdgpuArch = "__amdgpu_arch";
constexpr std::string_view kCudaArch = "__cuda_arch";
constexpr std::string_view kArchspec = "__archspec";

bool any_matches(const MatchSpec& spec, const std::vector<PackageRecord>& records) {
    return std::any_of(
        records.begin(), records.end(), [&](const auto& one) { return spec.matches(one); });
}

PackageRecord virtual_package(const std::string& name, std::string version, std::string build) {
    PackageRecord record;
    record.name = name;
    record.version = std::move(version);
    record.build = std::move(build);
    return record;
}

Version major_version(int number) {
    return Version::from_number(static_cast<std::uint64_t>(number));
}

/// Systems on a chip are of this architecture.
bool may_be_tegra(const std::vector<PackageRecord>& base) {
    const auto* cpu = find_record(base, kArchspec);
    return cpu != nullptr && cpu->build == "aarch64";
}

/// No machine has GPUs of two vendors here, and none has a device without its driver.
bool is_possible(const std::vector<PackageRecord>& machine) {
    const auto has = [&](std::string_view name) { return find_record(machine, name) != nullptr; };
    std::set<Accelerator> there;
    for (const auto& record : machine) {
        if (const auto vendor = vendor_of_virtual_package(record.name)) there.insert(*vendor);
    }
    return there.empty() || (there.size() == 1 && has(row_of(*there.begin()).driver));
}

}  // namespace

Result<HardwareSpace> HardwareSpace::make(const MachineSpecs& specs,
                                          const std::vector<PackageRecord>& base) {
    HardwareSpace space;
    space.take(specs.depends, Asked::Role::Depends);
    space.take(specs.constrains, Asked::Role::Constrains);
    space.take(specs.conditions, Asked::Role::Condition);
    space.take(specs.on_cuda, Asked::Role::OnCuda);
    // Whose GPU it is matters also where nothing asks for it.
    std::set<std::string> names;
    for (const auto& vendor : vendors()) names.emplace(vendor.driver);
    for (const auto& [spec, role, text] : space.asked_) {
        if (role != Asked::Role::OnCuda) names.insert(spec.name);
    }
    if (space.tells_tegra()) names.emplace(kCudaArch);
    for (const auto& name : names) space.add_axis(name, base);
    GPKG_CHECK(space.add_points(base));
    return space;
}

void HardwareSpace::take(const std::set<std::string>& texts, Asked::Role role) {
    for (const auto& text : texts) {
        // What cannot be read has no record that the solver takes.
        auto spec = MatchSpec::parse(text);
        if (spec) asked_.push_back({*std::move(spec), role, text});
    }
}

/// Whether a spec is for systems on a chip or for what is none.
bool HardwareSpace::tells_tegra() const {
    return std::ranges::any_of(asked_, [](const Asked& one) {
        return one.role == Asked::Role::OnCuda && !tells_cuda_version(one.spec.name);
    });
}

std::vector<HardwareSpace::Seen> HardwareSpace::look(const std::vector<PackageRecord>& machine,
                                                     std::optional<std::string_view> name) const {
    const Cascade cascade(machine);
    const CudaLimits limits(machine);
    std::vector<Seen> seen;
    for (const auto& [spec, role, text] : asked_) {
        const bool is_on_cuda = role == Asked::Role::OnCuda;
        if (name && (is_on_cuda ? !name->starts_with(kCuda) : *name != spec.name)) continue;
        Seen one;
        if (is_on_cuda) {
            one.will_not_run = limits.obstacle(spec).has_value();
        } else {
            one.holds = any_matches(spec, machine) || (role == Asked::Role::Constrains &&
                                                       find_record(machine, spec.name) == nullptr);
            if (one.holds && role != Asked::Role::Condition)
                one.closeness = cascade.closeness(spec);
        }
        seen.push_back(one);
    }
    return seen;
}

std::vector<PackageRecord> HardwareSpace::candidates_of(
    const std::string& name, const std::vector<PackageRecord>& base) const {
    std::vector<PackageRecord> candidates;
    if (name == kArchspec) {
        const auto* there = find_record(base, name);
        for (const auto& entry : microarchitectures()) {
            const auto ancestors = lineage(entry.name);
            const bool is_of_family =
                there != nullptr &&
                std::find(ancestors.begin(), ancestors.end(), there->build) != ancestors.end();
            if (is_of_family)
                candidates.push_back(virtual_package(name, "1", std::string(entry.name)));
        }
        return candidates;
    }
    std::set<Version> versions{Version::from_number(0)};
    const auto take = [&](const Version& version) {
        versions.insert(version);
        if (auto next = first_after(version)) versions.insert(*std::move(next));
        if (auto deeper = Version::parse(version.to_string() + ".0.1")) versions.insert(*deeper);
    };
    for (const auto& [spec, role, text] : asked_) {
        const bool counts = role == Asked::Role::OnCuda ? name == kCuda : name == spec.name;
        if (!counts || !spec.version) continue;
        for (const auto& version : spec.version->literals()) {
            take(version);
            // Drivers run what is of their major version.
            if (role == Asked::Role::OnCuda) take(major_version(version_part(version, 0)));
        }
    }
    // Code for a device runs as it is on later ones of its major version, but not on Tegra.
    if (name == kCudaArch || name == kAmdgpuArch) {
        for (const auto& version : std::set(versions))
            versions.insert(major_version(version_part(version, 0) + 1));
    }
    if (name == kCudaArch && may_be_tegra(base)) {
        for (const auto& device : tegra_devices()) take(*Version::parse(device.to_string()));
    }
    for (const auto& version : versions)
        candidates.push_back(virtual_package(name, version.to_string(), "0"));
    return candidates;
}

HardwareSpace::Axis HardwareSpace::axis_of(const std::string& name,
                                           const std::vector<PackageRecord>& candidates,
                                           bool may_be_absent) const {
    Axis axis{name, {}};
    std::vector<std::vector<Seen>> seen;
    if (may_be_absent) axis.cells.push_back({std::nullopt, "none"});
    const auto first = axis.cells.size();
    for (const auto& candidate : candidates) {
        auto sees = look({candidate}, name);
        const auto known = std::find(seen.begin(), seen.end(), sees);
        if (name == kArchspec ? known != seen.end() : !seen.empty() && seen.back() == sees)
            continue;
        seen.push_back(std::move(sees));
        axis.cells.push_back({candidate, name == kArchspec ? candidate.build : candidate.version});
    }
    if (name == kArchspec) return axis;
    for (std::size_t i = first; i < axis.cells.size(); ++i) {
        const bool is_last = i + 1 == axis.cells.size();
        std::vector<std::string> bounds;
        if (i != first) bounds.push_back(">=" + axis.cells[i].record->version);
        if (!is_last) bounds.push_back("<" + axis.cells[i + 1].record->version);
        axis.cells[i].range = bounds.empty() ? "any" : fmt::format("{}", fmt::join(bounds, ","));
    }
    return axis;
}

void HardwareSpace::add_axis(const std::string& name, const std::vector<PackageRecord>& base) {
    const auto candidates = candidates_of(name, base);
    const bool is_in_base = find_record(base, name) != nullptr;
    if (candidates.empty() || (is_system_package(name) && !is_in_base)) return;
    axes_.push_back(axis_of(name, candidates, !is_in_base));
}

Result<void> HardwareSpace::add_points(const std::vector<PackageRecord>& base) {
    const auto fixed = [&] {
        auto records = base;
        std::erase_if(records, [&](const auto& record) {
            return std::any_of(axes_.begin(), axes_.end(), [&](const auto& axis) {
                return axis.name == record.name;
            });
        });
        return records;
    }();
    std::vector<std::size_t> cells(axes_.size(), 0);
    while (true) {
        MachinePoint point{fixed, cells};
        for (std::size_t i = 0; i < axes_.size(); ++i) {
            const auto& record = axes_[i].cells[cells[i]].record;
            if (record) point.virtual_packages.push_back(*record);
        }
        if (is_possible(point.virtual_packages)) points_.push_back(std::move(point));
        if (points_.size() > kMostPoints)
            return fail(
                ErrorKind::Unsupported,
                fmt::format("the packages distinguish more than {} hardware classes", kMostPoints),
                "name the machines, e.g. --for a100 --for cpu");
        std::size_t axis = 0;
        while (axis < axes_.size() && ++cells[axis] == axes_[axis].cells.size()) cells[axis++] = 0;
        if (axis == axes_.size()) break;
    }
    std::vector<std::pair<std::size_t, std::size_t>> order;
    std::vector<std::vector<Seen>> seen;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        seen.push_back(look(points_[i].virtual_packages));
        const auto holds = std::count_if(
            seen.back().begin(), seen.back().end(), [](const Seen& one) { return one.holds; });
        order.emplace_back(static_cast<std::size_t>(holds), i);
    }
    std::stable_sort(
        order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<MachinePoint> points;
    points.reserve(order.size());
    for (const auto& [holds, i] : order) {
        points.push_back(std::move(points_[i]));
        seen_.push_back(std::move(seen[i]));
    }
    points_ = std::move(points);
    return {};
}

bool HardwareSpace::has_fewer_records(std::size_t from, std::size_t to) const {
    if (found_accelerator({}, points_[from].virtual_packages) !=
        found_accelerator({}, points_[to].virtual_packages))
        return false;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        const auto before = seen_[from][i].holds;
        const auto now = seen_[to][i].holds;
        const bool is_same = asked_[i].role == Asked::Role::Condition;
        if (is_same ? now != before : now && !before) return false;
    }
    return true;
}

bool HardwareSpace::carries_over(const MachineSpecs& answer,
                                 std::size_t from,
                                 std::size_t to) const {
    if (!has_fewer_records(from, to)) return false;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        const auto& before = seen_[from][i];
        const auto& now = seen_[to][i];
        switch (asked_[i].role) {
        case Asked::Role::Depends:
        case Asked::Role::Constrains:
            if (now.holds && now.closeness != before.closeness) return false;
            if (before.holds && !now.holds &&
                (answer.depends.contains(asked_[i].text) ||
                 answer.constrains.contains(asked_[i].text)))
                return false;
            break;
        case Asked::Role::Condition: break;
        case Asked::Role::OnCuda:
            // Also of what is not in the answer: how builds that run are ordered hangs on which do.
            if (before.will_not_run != now.will_not_run) return false;
            break;
        }
    }
    return true;
}

}  // namespace gpkg
