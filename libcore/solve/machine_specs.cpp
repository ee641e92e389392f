#include "libcore/solve/machine_specs.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/hardware/gpu_libraries.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/condition.hpp"
#include "libcore/spec/match_spec.hpp"

#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

void take_leaves(const Condition& condition, std::set<std::string>& texts) {
    if (condition.spec && condition.spec->name.starts_with("__"))
        texts.insert(condition.spec->to_string());
    for (const auto& part : condition.parts) take_leaves(part, texts);
}

std::string exactly(std::string_view name, std::string_view version) {
    return fmt::format("{} =={}", name, version);
}

}  // namespace

bool MachineSpecs::take_dependency(std::string_view text) {
    const auto name = name_in_spec(text);
    const bool is_on_machine = name.starts_with("__");
    if (is_on_machine) depends.emplace(text);
    if (tells_cuda_limits(name)) take_on_cuda(std::string(text));
    if (text.find("when") != std::string_view::npos) {
        const auto spec = MatchSpec::parse(text);
        const auto condition =
            spec && spec->when ? Condition::parse(*spec->when) : fail(ErrorKind::Parse, "");
        if (condition) take_leaves(*condition, conditions);
    }
    return is_on_machine;
}

void MachineSpecs::take_constraint(std::string_view text) {
    const auto name = name_in_spec(text);
    if (name.starts_with("__")) constrains.emplace(text);
    if (tells_cuda_limits(name)) take_on_cuda(std::string(text));
}

void MachineSpecs::take_record(std::string_view name,
                               std::string_view version,
                               std::string_view build) {
    if (const auto release = compiled_with(Accelerator::Nvidia, build)) {
        take_on_cuda(release->first == release->last
                         ? exactly("cuda-version", release->first.to_string())
                         : fmt::format("cuda-version {}.*", release->first.major));
        take_releases(release);
    }
    if (tells_cuda_version(name)) take_on_cuda(exactly(name, version));
    if (is_toolkit_part(name)) {
        if (const auto own = Version::parse(version)) take_releases(toolkit_of_part(name, *own));
    }
    if (const auto least = least_device_of(name))
        conditions.insert(fmt::format("__cuda_arch <{}", least->capability.to_string()));
}

void MachineSpecs::take_on_cuda(std::string text) {
    const auto [place, is_new] = on_cuda.insert(std::move(text));
    if (!is_new) return;
    if (const auto spec = MatchSpec::parse(*place)) {
        if (tells_cuda_version(spec->name)) take_devices(releases_of(*spec));
        take_releases(toolkit_of_dependency(*spec));
    }
    if (!tells_cuda_version(name_in_spec(*place)))
        conditions.insert(fmt::format("__cuda >={}", kFirstCudaForTegraToo));
}

/// By which of them a driver supports it is decided which toolkit comes first.
void MachineSpecs::take_releases(const std::optional<ToolkitRange>& range) {
    if (!range || range->vendor != Accelerator::Nvidia) return;
    for (const auto release : {range->first, range->last}) {
        if (release.minor != ToolkitVersion::kLastMinor)
            conditions.insert(fmt::format("__cuda >={}", release.to_string()));
    }
}

/// What is lower than the lowest device that one of them makes code for: a machine without a device
/// is none of those.
void MachineSpecs::take_devices(const std::optional<ToolkitRange>& range) {
    const auto targets = range ? targets_of(*range) : std::vector<CudaTarget>();
    if (!targets.empty())
        conditions.insert(fmt::format("__cuda_arch <{}", targets.front().to_string()));
}

MachineSpecs machine_specs_of(const std::vector<PackageRecord>& records) {
    MachineSpecs specs;
    for (const auto& record : records) {
        specs.take_record(record.name, record.version, record.build);
        for (const auto& text : record.depends) specs.take_dependency(text);
        for (const auto& text : record.constrains) specs.take_constraint(text);
    }
    return specs;
}

}  // namespace gpkg
