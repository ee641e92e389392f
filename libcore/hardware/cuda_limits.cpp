#include "libcore/hardware/cuda_limits.hpp"

#include "libcore/hardware/gpu_libraries.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/toolkit.hpp"
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

/// 12.1 for "12.1", all of the major version for "12".
std::vector<Version> toolkits_named(std::string_view cuda) {
    const auto spec = MatchSpec::parse(fmt::format("cuda-version={}", cuda));
    return spec ? toolkits_of(*spec) : std::vector<Version>();
}

/// For a CUDA whose best code for a device runs like this: none at all, or as PTX only.
std::string_view lacks_code(CodeFit fit) {
    return fit == CodeFit::No ? "does not support" : "has no machine code for";
}

}  // namespace

bool tells_cuda_limits(std::string_view name) {
    return name == kArmVariant || tells_cuda_version(name);
}

std::string at_best_as_ptx(const std::string& caution) {
    return caution + "; it runs there only if it contains PTX";
}

std::optional<DeclaredCode> declared_code(const PackageRecord& record, const Version& device) {
    const auto on = CudaTarget::of(device);
    std::optional<DeclaredCode> best;
    const auto consider = [&](CudaTarget target, CodeFit fit) {
        if (fit == CodeFit::No) return;
        if (best && (best->fit < fit || (best->fit == fit && target < best->target))) return;
        best = DeclaredCode{target, fit};
    };
    for (const auto& text : record.depends) {
        if (name_in_spec(text) != "__cuda_arch") continue;
        const auto spec = MatchSpec::parse(text);
        if (!spec || spec->when || !spec->version || !spec->version->matches(device)) continue;
        for (const auto& version : spec->version->own_literals()) {
            const auto target = CudaTarget::of(version);
            consider(target, code_fit(target, on));
        }
    }
    constexpr std::string_view kMachineCode = "sm:";
    for (const std::string_view flag : record.flags) {
        if (!flag.starts_with(kMachineCode)) continue;
        const auto code = parse_cuda_code(flag.substr(kMachineCode.size()));
        if (code && runs_natively(code->target, on))
            consider(code->target, code_fit(code->target, on));
    }
    return best;
}

CudaLimits::CudaLimits(const std::vector<PackageRecord>& virtual_packages)
    : driver_(find_version(virtual_packages, "__cuda")), devices_(cuda_devices(virtual_packages)) {}

std::optional<std::string> CudaLimits::obstacle(const MatchSpec& dependency) const {
    if (auto told = told_by_driver(dependency)) return told;
    if (auto told = told_by_toolkits(dependency, CodeFit::No)) return told;
    if (auto told = told_by_arm_variant(dependency)) return told;
    return told_by_devices(dependency);
}

std::optional<std::string> CudaLimits::obstacle_in_constrains(const MatchSpec& spec) const {
    return told_by_arm_variant(spec);
}

std::optional<std::string> CudaLimits::obstacle_of_build(std::string_view build) const {
    if ((!driver_ && devices_.empty()) || build.find("cu") == std::string_view::npos)
        return std::nullopt;
    const auto toolkit = toolkit_of_build(build);
    if (!toolkit) return std::nullopt;
    if (driver_ && driver_fit(*toolkit, *driver_) == DriverFit::No)
        return fmt::format("is compiled with CUDA {}, but the driver supports CUDA {}",
                           toolkit->to_string(),
                           driver_->to_string());
    return told_by_cuda(toolkit->to_string(), {*toolkit}, CodeFit::No);
}

std::optional<std::string> CudaLimits::obstacle_of_cuda(std::string_view cuda) const {
    return told_by_cuda(cuda, toolkits_named(cuda), CodeFit::No);
}

std::optional<std::string> CudaLimits::obstacle_of(const PackageRecord& record) const {
    for (const auto& dependency : on_cuda(record.depends)) {
        if (auto told = obstacle(dependency)) return told;
    }
    for (const auto& spec : on_cuda(record.constrains)) {
        if (auto told = obstacle_in_constrains(spec)) return told;
    }
    if (auto told = obstacle_of_build(record.build)) return told;
    if (!has_obstacles(record.name)) return std::nullopt;
    const auto version = version_of(record);
    return version ? obstacle_of_version(record.name, *version) : std::nullopt;
}

std::optional<std::string> CudaLimits::obstacle_of_version(std::string_view name,
                                                           const Version& version) const {
    return tells_cuda_version(name) ? told_of_cuda(version) : told_of_library(name, version);
}

/// By some version of it.
bool CudaLimits::has_obstacles(std::string_view name) const {
    if (tells_cuda_version(name)) return driver_ || !devices_.empty();
    return !devices_.empty() && least_device_of(name);
}

std::optional<std::string> CudaLimits::caution_of(const PackageRecord& record) const {
    if (const auto toolkit = toolkit_of_build(record.build))
        return told_by_cuda(toolkit->to_string(), {*toolkit}, CodeFit::Compiled);
    for (const auto& dependency : on_cuda(record.depends)) {
        if (auto told = told_by_toolkits(dependency, CodeFit::Compiled)) return told;
    }
    return std::nullopt;
}

std::optional<std::string> CudaLimits::caution_of_cuda(std::string_view cuda) const {
    return told_by_cuda(cuda, toolkits_named(cuda), CodeFit::Compiled);
}

/// The first device on which the best code that one of the toolkits makes runs in just that way.
const Version* CudaLimits::device_with(CodeFit fit, const std::vector<Version>& toolkits) const {
    if (toolkits.empty()) return nullptr;
    const auto device = std::ranges::find_if(devices_, [&](const Version& one) {
        auto best = CodeFit::No;
        for (const auto& toolkit : toolkits)
            best = std::min(best, toolkit_fit(toolkit, CudaTarget::of(one)));
        return best == fit;
    });
    return device == devices_.end() ? nullptr : &*device;
}

std::optional<std::string> CudaLimits::told_by_cuda(std::string_view cuda,
                                                    const std::vector<Version>& toolkits,
                                                    CodeFit fit) const {
    const auto* device = device_with(fit, toolkits);
    if (device == nullptr) return std::nullopt;
    return fmt::format("is compiled with CUDA {}, which {} compute capability {}",
                       cuda,
                       lacks_code(fit),
                       device->to_string());
}

std::optional<std::string> CudaLimits::told_by_toolkits(const MatchSpec& dependency,
                                                        CodeFit fit) const {
    if (devices_.empty()) return std::nullopt;
    const auto* device = device_with(fit, toolkits_of(dependency));
    if (device == nullptr) return std::nullopt;
    return fmt::format("needs {}, which {} compute capability {}",
                       written(dependency),
                       lacks_code(fit),
                       device->to_string());
}

std::optional<std::string> CudaLimits::told_by_driver(const MatchSpec& dependency) const {
    if (!driver_) return std::nullopt;
    auto toolkits = toolkits_of(dependency);
    if (toolkits.empty()) return std::nullopt;
    // The driver may be of one that is not known here, and so may others of its major version.
    for (auto own : {*driver_, *Version::parse(fmt::format("{}.99", version_part(*driver_, 0)))}) {
        if (dependency.version->matches(own)) toolkits.push_back(std::move(own));
    }
    const bool runs_one = std::ranges::any_of(toolkits, [&](const Version& toolkit) {
        return driver_fit(toolkit, *driver_) != DriverFit::No;
    });
    if (runs_one) return std::nullopt;
    return fmt::format(
        "needs {}, but the driver supports CUDA {}", written(dependency), driver_->to_string());
}

std::optional<std::string> CudaLimits::told_of_cuda(const Version& cuda) const {
    if (driver_ && driver_fit(cuda, *driver_) == DriverFit::No)
        return fmt::format("is for CUDA {}, but the driver supports CUDA {}",
                           cuda.to_string(),
                           driver_->to_string());
    const auto* device = device_with(CodeFit::No, {cuda});
    if (device == nullptr) return std::nullopt;
    return fmt::format("is for CUDA {}, which does not support compute capability {}",
                       cuda.to_string(),
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
    if (is_for_servers && driver_ && version_part(*driver_, 0) >= kFirstCudaForTegraToo)
        return std::nullopt;
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
