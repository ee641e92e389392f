#include "virtual-packages/virtual_package.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/amd.hpp"
#include "virtual-packages/cpu.hpp"
#include "virtual-packages/detectors.hpp"
#include "virtual-packages/devices.hpp"
#include "virtual-packages/machines.hpp"
#include "virtual-packages/package_names_internal.hpp"
#include "virtual-packages/version_text_internal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Exactly `least` to `most` numbers with dots between them.
bool is_dotted(std::string_view text, std::size_t least, std::size_t most) {
    const auto parts = split(text, '.');
    return parts.size() >= least && parts.size() <= most && std::ranges::all_of(parts, is_digits);
}

/// CEP 26's alphabet of build strings.
bool is_build_string(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '.' || c == '+';
    });
}

bool is_any(std::string_view text) { return text == kAnyVersion; }
bool is_numbers(std::string_view text) { return is_any(text) || is_dotted(text, 1, 4); }
bool is_cuda_version(std::string_view text) { return is_numbers(text) && !is_driver_version(text); }
bool is_kernel_version(std::string_view text) { return is_any(text) || is_dotted(text, 2, 4); }
bool is_compute_capability(std::string_view text) { return is_any(text) || is_dotted(text, 2, 2); }
bool is_gfx_version(std::string_view text) { return is_any(text) || is_dotted(text, 3, 3); }
bool is_zero(std::string_view text) { return text == "0"; }

enum class WhenEmpty { Drop, Ignore };

/// One variable of the CONDA_OVERRIDE_ family.
struct Override {
    std::string_view package;
    std::string_view variable;
    bool (*accepts)(std::string_view);
    std::string_view wanted;  ///< what `accepts` accepts, in words
    WhenEmpty when_empty;
};

// clang-format off
constexpr std::string_view kVersion = "a version such as 12.4, or the word 'any'";
constexpr std::string_view kGlibcVersion = "a version such as 2.28, or the word 'any'";
constexpr Override kArchspec{"__archspec", "CONDA_OVERRIDE_ARCHSPEC", is_build_string, "a name of at most 64 letters, digits, _, . and +", WhenEmpty::Ignore};
constexpr Override kUnix{"__unix", "CONDA_OVERRIDE_UNIX", is_zero, "", WhenEmpty::Ignore};
constexpr Override kCuda{"__cuda", "CONDA_OVERRIDE_CUDA", is_cuda_version, kVersion, WhenEmpty::Drop};
constexpr Override kCudaArch{"__cuda_arch", "CONDA_OVERRIDE_CUDA_ARCH", is_compute_capability, "a compute capability such as 8.6, or the word 'any'", WhenEmpty::Drop};
constexpr Override kGlibc{"__glibc", "CONDA_OVERRIDE_GLIBC", is_numbers, kGlibcVersion, WhenEmpty::Drop};
constexpr Override kLinux{"__linux", "CONDA_OVERRIDE_LINUX", is_kernel_version, "two to four numbers such as 5.15.0, or the word 'any'", WhenEmpty::Ignore};
constexpr Override kOsx{"__osx", "CONDA_OVERRIDE_OSX", is_numbers, kVersion, WhenEmpty::Ignore};
constexpr Override kWin{"__win", "CONDA_OVERRIDE_WIN", is_version, kVersion, WhenEmpty::Ignore};
constexpr Override kAmdgpu{"__amdgpu", "CONDA_OVERRIDE_AMDGPU", is_zero, "0 for present or nothing for absent", WhenEmpty::Drop};
constexpr Override kAmdgpuArch{"__amdgpu_arch", "CONDA_OVERRIDE_AMDGPU_ARCH", is_gfx_version, "three numbers such as 9.0.10, or the word 'any'", WhenEmpty::Drop};
constexpr Override kRocm{"__rocm", "CONDA_OVERRIDE_ROCM", is_numbers, kVersion, WhenEmpty::Drop};
// clang-format on

/// What an override says: nothing, "absent", or a value.
struct Ruling {
    bool absent = false;
    std::optional<std::string> value;
};

/// CEP 30's naive name of a target's CPU.
std::string naive_archspec(std::string_view platform) {
    const auto dash = platform.find('-');
    const auto part = dash == std::string_view::npos ? platform : platform.substr(dash + 1);
    if (part == "32") return "x86";
    if (part == "64") return "x86_64";
    if (part == "arm64") return "aarch64";
    return std::string(part);
}

/// Collects the packages of one target.
class Judge {
public:
    Judge(const HardwareProfile& profile,
          std::string_view platform,
          const EnvLookup& env,
          const std::vector<std::string>& detectable)
        : profile_(profile),
          platform_(platform),
          env_(env),
          detectable_(detectable),
          native_(profile.platform == platform) {}

    Detection judge() && {
        archspec();
        systems();
        nvidia();
        amd();
        others();
        std::ranges::sort(
            detection_.packages, {}, [](const auto& found) -> const auto& {
                return found.package.name;
            });
        return std::move(detection_);
    }

private:
    bool targets(std::string_view system) const {
        return platform_.starts_with(system) && platform_.substr(system.size()).starts_with("-");
    }

    void add(std::string_view name,
             std::string version,
             std::string_view source,
             std::string build = "0") {
        detection_.packages.push_back(
            {{std::string(name), std::move(version), std::move(build)}, std::string(source)});
    }

    void add(std::string_view name, const Fact& fact, std::string build = "0") {
        add(name, fact.value.empty() ? "0" : fact.value, fact.source, std::move(build));
        if (fact.is_assumed) detection_.assumed.emplace_back(name);
    }

    void add_default(std::string_view name, std::string version) {
        add(name, std::move(version), kDefaultSource);
        detection_.assumed.emplace_back(name);
    }

    void warn(std::string text) { detection_.warnings.push_back(std::move(text)); }

    void note(const Override& which, OverrideEffect effect, std::string text) {
        const auto value = env_(which.variable);
        detection_.overrides.push_back({std::string(which.variable),
                                        std::string(trim(value.value_or(""))),
                                        effect,
                                        std::move(text)});
    }

    Ruling ask(const Override& which) {
        const auto set = env_(which.variable);
        if (!set) return {};
        const auto value = trim(*set);
        if (value.empty()) {
            if (which.when_empty == WhenEmpty::Drop) {
                note(which, OverrideEffect::Drops, fmt::format("no {}", which.package));
                return {.absent = true, .value = {}};
            }
            note(which, OverrideEffect::None, "the package cannot be absent");
            warn(fmt::format("{} is empty and ignored: the package cannot be absent",
                             which.variable));
            return {};
        }
        if (which.accepts(value)) {
            note(which, OverrideEffect::Sets, fmt::format("{} is {}", which.package, value));
            return {.absent = false, .value = std::string(value)};
        }
        note(which, OverrideEffect::None, fmt::format("expected {}", which.wanted));
        std::string near;
        if (which.package == kArchspec.package) near = meant_microarchitecture(value);
        if (which.package == kCuda.package && is_driver_version(value))
            near = fmt::format("; driver {} supports CUDA {}", value, cuda_of_driver(value));
        warn(fmt::format(
            "{}={} is ignored: expected {}{}", which.variable, value, which.wanted, near));
        return {};
    }

    static std::string meant_microarchitecture(std::string_view name) {
        std::string meant(name);
        std::ranges::replace(meant, '-', '_');
        if (is_microarchitecture(meant)) return fmt::format("; did you mean {}?", meant);
        const auto near = near_names(meant, microarchitecture_names());
        return near.empty() ? "" : fmt::format("; did you mean {}?", join_or(near));
    }

    /// Says that an override which is set has no effect, and why.
    void ignore(const Override& which, const std::string& reason) {
        const auto set = env_(which.variable);
        if (!set) return;
        note(which, OverrideEffect::None, reason);
        // To drop what is not there is no mistake.
        if (const auto value = trim(*set); !value.empty())
            warn(fmt::format("{}={} is ignored: {}", which.variable, value, reason));
    }

    void archspec() {
        if (const auto ruling = ask(kArchspec); ruling.value) {
            if (!is_microarchitecture(*ruling.value) && naive_archspec(platform_) != *ruling.value)
                suggest_microarchitecture(*ruling.value);
            if (is_of_another_platform(*ruling.value, platform_))
                warn(fmt::format(
                    "{}={}: not a CPU type for {}", kArchspec.variable, *ruling.value, platform_));
            add("__archspec", "1", kArchspec.variable, *ruling.value);
        } else if (native_ && profile_.microarchitecture) {
            const auto& cpu = *profile_.microarchitecture;
            add("__archspec", Fact{"1", cpu.source, cpu.is_assumed}, cpu.value);
        } else {
            add("__archspec", "0", "the target platform", naive_archspec(platform_));
        }
    }

    void suggest_microarchitecture(std::string_view name) {
        const auto near = meant_microarchitecture(name);
        warn(fmt::format("{}={}: unknown microarchitecture{}",
                         kArchspec.variable,
                         name,
                         near.empty() ? "; for a newer CPU, use an older one that it is compatible "
                                        "with, e.g. x86_64_v4 or armv8.2a"
                                      : near));
    }

    /// A package that every target of one system has.
    void always(const Override& which,
                const std::optional<Fact>& fact,
                std::string_view otherwise) {
        if (const auto ruling = ask(which); ruling.value)
            add(which.package, *ruling.value, which.variable);
        else if (native_ && fact && !fact->value.empty())
            add(which.package, *fact);
        else
            add_default(which.package, std::string(otherwise));
    }

    void systems() {
        const auto none_here = [&](const Override& which) {
            ignore(which, fmt::format("platform {} has no {}", platform_, which.package));
        };
        if (targets("linux")) {
            always(kLinux, profile_.linux_, "4.18");
            glibc();
        } else {
            none_here(kLinux);
            none_here(kGlibc);
        }
        if (targets("osx"))
            always(kOsx, profile_.osx, "0");
        else
            none_here(kOsx);
        if (targets("win"))
            always(kWin, profile_.windows, "10.0");
        else
            none_here(kWin);
        if (targets("linux") || targets("osx") || targets("freebsd") || targets("emscripten") ||
            targets("zos"))
            add("__unix", "0", "the target platform");
        if (const auto set = env_(kUnix.variable)) {
            note(kUnix, OverrideEffect::None, "__unix cannot be overridden");
            warn(fmt::format(
                "{}={} is ignored: __unix cannot be overridden", kUnix.variable, trim(*set)));
        }
    }

    void glibc() {
        const auto ruling = ask(kGlibc);
        if (ruling.absent) return;
        if (ruling.value)
            add("__glibc", *ruling.value, kGlibc.variable);
        else if (!native_ || !profile_.glibc)
            add_default("__glibc", "2.28");
        else if (!profile_.glibc->value.empty())
            add("__glibc", *profile_.glibc);
    }

    /// A package whose presence is a fact that an override can change. True when it is there. Of a
    /// machine of another platform nothing is known.
    bool optional(const Override& which, const std::optional<Fact>& fact) {
        const auto ruling = ask(which);
        if (ruling.absent) return false;
        const bool is_known = native_ && fact;
        if (ruling.value)
            add(which.package, *ruling.value, which.variable);
        else if (is_known)
            add(which.package, *fact);
        return ruling.value || is_known;
    }

    /// CEP 46: the lowest compute capability, so that what is installed runs on every device.
    std::optional<Fact> lowest_capability() const {
        std::optional<std::array<int, 3>> lowest;
        for (const auto& gpu : profile_.gpus) {
            if (gpu.vendor != GpuVendor::Nvidia || !is_compute_capability(gpu.architecture))
                continue;
            const auto capability = numbers_of(gpu.architecture);
            if (!lowest || capability < *lowest) lowest = capability;
        }
        if (!lowest) return std::nullopt;
        return Fact{*lowest == kAnyNumbers ? std::string(kAnyVersion)
                                           : fmt::format("{}.{}", (*lowest)[0], (*lowest)[1]),
                    "lowest compute capability of the devices"};
    }

    /// As rattler has it: the device with the most compute units, then the highest version. The
    /// draft's text asks for the highest version alone, which an integrated GPU can win.
    std::optional<Fact> strongest_gfx() const {
        std::optional<std::pair<std::uint32_t, std::array<int, 3>>> strongest;
        for (const auto& gpu : profile_.gpus) {
            if (gpu.vendor != GpuVendor::Amd) continue;
            if (is_any(gpu.architecture)) return Fact{gpu.architecture, "the profile"};
            const auto version = gfx_version(gpu.architecture);
            if (!version) continue;
            const std::pair key{gpu.compute_units, numbers_of(*version)};
            if (!strongest || *strongest < key) strongest = key;
        }
        if (!strongest) return std::nullopt;
        return Fact{fmt::format("{}", fmt::join(strongest->second, ".")),
                    "the device with the most compute units"};
    }

    static std::array<int, 3> numbers_of(std::string_view dotted) {
        if (is_any(dotted)) return kAnyNumbers;
        std::array<int, 3> numbers{};
        std::size_t at = 0;
        for (const auto part : split(dotted, '.'))
            std::from_chars(part.data(), part.data() + part.size(), numbers.at(at++));
        return numbers;
    }

    void nvidia() {
        if (!optional(kCuda, profile_.cuda))
            return ignore(kCudaArch, "__cuda is missing (set CONDA_OVERRIDE_CUDA)");
        const auto lowest = lowest_capability();
        if (!optional(kCudaArch, lowest) || !lowest ||
            detection_.packages.back().source != lowest->source)
            return;
        std::set<std::string> all;
        for (const auto& gpu : profile_.gpus) {
            if (gpu.vendor == GpuVendor::Nvidia && is_dotted(gpu.architecture, 2, 2))
                all.insert(gpu.architecture);
        }
        if (all.size() > 1) detection_.compute_capabilities.assign(all.begin(), all.end());
    }

    void amd() {
        if (optional(kAmdgpu, profile_.amdgpu))
            optional(kAmdgpuArch, strongest_gfx());
        else
            ignore(kAmdgpuArch, "__amdgpu is missing (set CONDA_OVERRIDE_AMDGPU=0)");
        optional(kRocm, profile_.rocm);
    }

    /// What detectors beyond gpkg's own found; an override gives what one of them may find.
    void others() {
        std::map<std::string, const DetectedPackage*> names;
        for (const auto& name : detectable_) names.emplace(name, nullptr);
        for (const auto& found : profile_.others) names[found.package.name] = &found;
        for (const auto& [name, found] : names) {
            const auto variable = override_variable(name);
            const auto ruling = ask({name, variable, is_version, kVersion, WhenEmpty::Drop});
            if (ruling.value)
                add(name, *ruling.value, variable);
            else if (!ruling.absent && found != nullptr && native_)
                detection_.packages.push_back(*found);
        }
    }

    static constexpr std::array<int, 3> kAnyNumbers{
        std::numeric_limits<int>::max(), std::numeric_limits<int>::max(), 0};

    const HardwareProfile& profile_;
    std::string_view platform_;
    const EnvLookup& env_;
    const std::vector<std::string>& detectable_;
    bool native_;
    Detection detection_;
};

/// True when nothing that the driver could answer would be used.
bool overrides_decide_cuda(const EnvLookup& env) {
    const auto cuda = env(kCuda.variable);
    if (!cuda) return false;
    if (trim(*cuda).empty()) return true;
    const auto arch = env(kCudaArch.variable);
    return is_cuda_version(trim(*cuda)) && arch &&
           (trim(*arch).empty() || is_compute_capability(trim(*arch)));
}

/// True when nothing that a detector could find would be used.
bool is_decided(std::string_view name, const EnvLookup& env) {
    const auto set = env(override_variable(name));
    return set && (trim(*set).empty() || is_version(trim(*set)));
}

/// Of the target, what the variables decide, so that nobody else need be asked.
Decided decided_by_variables(const Host& host, const std::vector<std::string>& detectable) {
    // Nor is anything known of a machine of another platform.
    Decided decided{host.platform != host.native_platform || overrides_decide_cuda(host.env), {}};
    for (const auto& name : detectable)
        if (is_decided(name, host.env)) decided.others.push_back(name);
    return decided;
}

}  // namespace

const DetectedPackage* Detection::find(std::string_view name) const {
    for (const auto& found : packages)
        if (found.package.name == name) return &found;
    return nullptr;
}

bool Detection::is_assumed(std::string_view name) const {
    return std::ranges::find(assumed, name) != assumed.end();
}

std::vector<PackageRecord> Detection::records() const {
    std::vector<PackageRecord> found;
    for (const auto& [package, source] : packages) {
        auto& record = found.emplace_back();
        record.name = package.name;
        record.version = package.version;
        record.build = package.build;
        if (package.name == kCudaArch.package) record.flags = compute_capabilities;
        if (is_assumed(package.name)) record.flags.emplace_back(kAssumedFlag);
    }
    return found;
}

Detection virtual_packages_of(const HardwareProfile& profile,
                              std::string_view platform,
                              const EnvLookup& env,
                              const std::vector<std::string>& detectable) {
    return Judge(profile, platform, env, detectable).judge();
}

Result<Detection> detect(const Host& host, const DeviceChoice& choice) {
    const auto detectable = detectable_packages(host);
    // A device that is named by its number has to be there.
    const auto decided = choice.kind == DeviceChoice::Kind::Some
                             ? Decided()
                             : decided_by_variables(host, detectable);
    auto detected = detect_profile(host, decided);
    GPKG_CHECK(keep_devices(detected.profile, choice));
    auto detection = virtual_packages_of(detected.profile, host.platform, host.env, detectable);
    detection.warnings.insert(
        detection.warnings.begin(), detected.warnings.begin(), detected.warnings.end());
    return detection;
}

Detection detect_all(const Host& host) { return detect(host, DeviceChoice()).value(); }

}  // namespace gpkg::virtual_packages
