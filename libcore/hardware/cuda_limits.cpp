#include "libcore/hardware/cuda_limits.hpp"

#include "libcore/hardware/gpu_libraries.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::string_view kArmVariant = "arm-variant";

/// Those of a record's specs, in force wherever it is, that say which CUDA and which devices it is
/// for.
std::vector<MatchSpec> on_cuda(const std::vector<std::string>& texts) {
    std::vector<MatchSpec> specs;
    for (const auto& text : texts) {
        const auto name = name_in_spec(text);
        if (name != "__cuda_arch" && !tells_cuda_limits(name)) continue;
        auto spec = MatchSpec::parse(text);
        if (spec && !spec->when) specs.push_back(*std::move(spec));
    }
    return specs;
}

/// Of code that runs on a device, what suits it better; of what suits it as well, the later.
std::optional<DeclaredCode> better(const std::optional<DeclaredCode>& known,
                                   CudaTarget target,
                                   CudaTarget device) {
    const auto fit = code_fit(target, device);
    const bool is_worse =
        known && (known->fit < fit || (known->fit == fit && target < known->target));
    return fit == CodeFit::No || is_worse ? known : DeclaredCode{target, fit};
}

/// The releases that a dependency on a package like cuda-version takes.
std::optional<ToolkitRange> cuda_taken(const MatchSpec& dependency) {
    return tells_cuda_version(dependency.name) ? releases_of(dependency) : std::nullopt;
}

/// What a build was compiled with; most build strings say nothing of it.
std::optional<ToolkitRange> cuda_of_build(std::string_view build) {
    return build.find("cu") == std::string_view::npos ? std::nullopt
                                                      : compiled_with(Accelerator::Nvidia, build);
}

std::string compiled(std::string_view cuda, const std::string& lack) {
    return fmt::format("is compiled with CUDA {}{}", cuda, lack);
}

}  // namespace

bool tells_cuda_limits(std::string_view name) {
    return name == kArmVariant || tells_cuda_version(name);
}

std::string at_best_as_ptx(const std::string& caution) {
    return caution + "; it runs there only if it contains PTX";
}

std::optional<DeclaredCode> declared_code(const MatchSpec& dependency, const Version& device) {
    if (dependency.name != "__cuda_arch" || !dependency.version ||
        !dependency.version->matches(device))
        return std::nullopt;
    std::optional<DeclaredCode> best;
    for (const auto& version : dependency.version->own_literals())
        best = better(best, CudaTarget::of(version), CudaTarget::of(device));
    return best;
}

std::optional<DeclaredCode> declared_code(const PackageRecord& record, const Version& device) {
    const auto on = CudaTarget::of(device);
    std::optional<DeclaredCode> best;
    for (const auto& dependency : on_cuda(record.depends)) {
        if (const auto code = declared_code(dependency, device))
            best = better(best, code->target, on);
    }
    constexpr std::string_view kMachineCode = "sm:";
    for (const std::string_view flag : record.flags) {
        if (!flag.starts_with(kMachineCode)) continue;
        const auto code = parse_cuda_code(flag.substr(kMachineCode.size()));
        if (code && runs_natively(code->target, on)) best = better(best, code->target, on);
    }
    return best;
}

CudaLimits::CudaLimits(const std::vector<PackageRecord>& virtual_packages)
    : driver_(driver_release(virtual_packages, Accelerator::Nvidia)),
      devices_(cuda_devices(virtual_packages)) {}

std::optional<std::string> CudaLimits::obstacle(const MatchSpec& dependency) const {
    if (const auto lack = lack_of(cuda_taken(dependency)))
        return fmt::format("needs {}{}", written(dependency), *lack);
    if (auto told = told_by_arm_variant(dependency)) return told;
    return told_by_devices(dependency);
}

std::optional<std::string> CudaLimits::obstacle_in_constrains(const MatchSpec& spec) const {
    return told_by_arm_variant(spec);
}

std::optional<std::string> CudaLimits::obstacle_of_build(std::string_view build) const {
    if (!driver_ && devices_.empty()) return std::nullopt;
    const auto cuda = cuda_of_build(build);
    const auto lack = lack_of(cuda);
    return lack ? compiled(cuda->named(), *lack) : lack;
}

std::optional<std::string> CudaLimits::obstacle_of_cuda(std::string_view cuda) const {
    const auto lack = lack_of_code(release_named(Accelerator::Nvidia, cuda), CodeFit::No);
    return lack ? compiled(cuda, *lack) : lack;
}

std::optional<std::string> CudaLimits::obstacle_of(const PackageRecord& record) const {
    for (const auto& dependency : on_cuda(record.depends)) {
        if (auto told = obstacle(dependency)) return told;
    }
    for (const auto& spec : on_cuda(record.constrains)) {
        if (auto told = obstacle_in_constrains(spec)) return told;
    }
    if (auto told = obstacle_of_build(record.build)) return told;
    const auto version = version_of(record);
    if (!version) return std::nullopt;
    auto told = obstacle_of_version(record.name, *version);
    return told ? told : obstacle_of_part(record.name, *version);
}

std::optional<std::string> CudaLimits::obstacle_of_part(std::string_view name,
                                                        const Version& version) const {
    if (!driver_ || is_for_building(name)) return std::nullopt;
    const auto part = toolkit_of_part(name, version);
    if (!part || part->vendor != Accelerator::Nvidia ||
        driver_fit(part->first, *driver_) != DriverFit::No)
        return std::nullopt;
    return fmt::format(
        "is for {}, but the driver supports CUDA {}", part->to_string(), driver_->to_string());
}

std::optional<std::string> CudaLimits::obstacle_of_version(std::string_view name,
                                                           const Version& version) const {
    if (!tells_cuda_version(name)) return told_of_library(name, version);
    const auto release = ToolkitVersion::of(version);
    if (!release) return std::nullopt;
    const auto lack = lack_of(ToolkitRange{Accelerator::Nvidia, *release, *release});
    return lack ? fmt::format("is for CUDA {}{}", version.to_string(), *lack) : lack;
}

std::optional<std::string> CudaLimits::caution_of(const PackageRecord& record) const {
    if (const auto cuda = cuda_of_build(record.build); cuda && cuda->first == cuda->last)
        return caution_of_cuda(cuda->named());
    for (const auto& dependency : on_cuda(record.depends)) {
        if (const auto lack = lack_of_code(cuda_taken(dependency), CodeFit::Compiled))
            return fmt::format("needs {}{}", written(dependency), *lack);
    }
    return std::nullopt;
}

std::optional<std::string> CudaLimits::caution_of_cuda(std::string_view cuda) const {
    const auto lack = lack_of_code(release_named(Accelerator::Nvidia, cuda), CodeFit::Compiled);
    return lack ? compiled(cuda, *lack) : lack;
}

std::optional<std::string> CudaLimits::lack_of(const std::optional<ToolkitRange>& cuda) const {
    if (!cuda) return std::nullopt;
    if (driver_ && driver_fit(cuda->first, *driver_) == DriverFit::No)
        return fmt::format(", but the driver supports CUDA {}", driver_->to_string());
    return lack_of_code(cuda, CodeFit::No);
}

/// By the first device on which the best code that one of the releases makes runs in just that way.
std::optional<std::string> CudaLimits::lack_of_code(const std::optional<ToolkitRange>& cuda,
                                                    CodeFit fit) const {
    if (!cuda) return std::nullopt;
    const auto device = std::ranges::find_if(
        devices_, [&](const Version& one) { return code_fit(*cuda, CudaTarget::of(one)) == fit; });
    if (device == devices_.end()) return std::nullopt;
    return fmt::format(", which {} compute capability {}",
                       fit == CodeFit::No ? "does not support" : "has no machine code for",
                       device->to_string());
}

std::optional<std::string> CudaLimits::told_of_library(std::string_view name,
                                                       const Version& version) const {
    if (devices_.empty()) return std::nullopt;
    const auto least = least_device_of(name);
    if (!least || version < least->since || !(devices_.front() < least->capability))
        return std::nullopt;
    return fmt::format("does not support compute capability {} (dropped in {})",
                       devices_.front().to_string(),
                       least->since.to_string());
}

/// Of several devices it may be for the lowest and not for others.
std::optional<std::string> CudaLimits::told_by_devices(const MatchSpec& dependency) const {
    if (dependency.name != "__cuda_arch" || !dependency.version || devices_.empty() ||
        !dependency.version->matches(devices_.front()))
        return std::nullopt;
    const auto other = std::ranges::find_if(
        devices_, [&](const Version& device) { return !dependency.version->matches(device); });
    if (other == devices_.end()) return std::nullopt;
    return fmt::format("needs {}, but a GPU here has {}", written(dependency), other->to_string());
}

/// Servers and systems on a chip share linux-aarch64, and until CUDA 13 they have toolkits that do
/// not go together: conda-forge tells them apart by arm-variant's build, "sbsa" or "tegra".
std::optional<std::string> CudaLimits::told_by_arm_variant(const MatchSpec& dependency) const {
    if (dependency.name != kArmVariant || !dependency.build) return std::nullopt;
    const bool is_for_servers = dependency.build->matches("sbsa");
    if (is_for_servers == dependency.build->matches("tegra")) return std::nullopt;
    if (is_for_servers && driver_ && driver_->major >= kFirstCudaForTegraToo) return std::nullopt;
    const auto device = std::ranges::find_if(devices_, [&](const Version& one) {
        return is_tegra(CudaTarget::of(one)) == is_for_servers;
    });
    if (device == devices_.end()) return std::nullopt;
    return fmt::format("needs {}, but compute capability {} is {}",
                       written(dependency),
                       device->to_string(),
                       is_for_servers ? "a Tegra" : "not a Tegra");
}

}  // namespace gpkg
