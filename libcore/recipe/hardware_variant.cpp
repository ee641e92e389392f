#include "libcore/recipe/hardware_variant.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/hardware_keys.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace gpkg {
namespace {

tl::unexpected<Error> wrong_value(std::string_view key, std::string_view value, std::string hint) {
    return fail(
        ErrorKind::Parse, fmt::format("invalid variant value {}={}", key, value), std::move(hint));
}

/// The value of a key that is there and says something.
std::string_view value_of(const Variant& used, std::string_view key) {
    const auto found = used.find(std::string(key));
    if (found == used.end() || says_nothing(found->second.text)) return {};
    return found->second.text;
}

/// "12.9" -> "12_9", "9-generic" -> "9_generic", which can be parts of a flag.
std::string flag_word(std::string_view text) {
    std::string word(text);
    std::replace_if(
        word.begin(), word.end(), [](char c) { return c == '.' || c == '-'; }, '_');
    return word;
}

/// The devices that code runs on, as versions of __cuda_arch. Each target is named, so that among
/// builds the one with code for the very device goes first.
std::string devices_of(const CudaCode& code) {
    using Features = CudaTarget::Features;
    const auto features = code.target.features;
    const auto from = CudaTarget{code.target.capability}.to_string();
    if (features == Features::Specific) return "==" + from;
    if (code.has_ptx && features == Features::Plain) return ">=" + from;
    return fmt::format(">={},<{}", from, code.target.capability / 10 + 1);
}

/// nvcc's and CMake's words for what a release of the compiler knows, and for the machine's device.
bool is_word_for_many(std::string_view item) {
    return item == "all" || item == "all-major" || item == "native";
}

/// What "all-major" is with a toolkit: its earliest target, the first of each major version, and
/// PTX for what comes later ("CUDA Compiler Driver NVCC", -arch=all-major).
std::string all_major(const Version& toolkit) {
    std::vector<std::string> items;
    for (const auto& target : targets_of(toolkit)) {
        const bool is_plain = target.features == CudaTarget::Features::Plain;
        if (is_plain && (items.empty() || target.capability % 10 == 0))
            items.push_back(target.to_string());
    }
    return fmt::format("{}+PTX", fmt::join(items, ";"));
}

tl::unexpected<Error> word_for_many(std::string_view item, const std::optional<Version>& toolkit) {
    return fail(ErrorKind::Parse,
                fmt::format("cuda_arch_list={} names no devices: its meaning depends on {}",
                            item,
                            item == "native" ? "the build machine" : "the release of the compiler"),
                toolkit
                    ? fmt::format("for CUDA {} use {}", toolkit->to_string(), all_major(*toolkit))
                    : "use for example 8.0;9.0a;12.0+PTX; gpkg build plan-variants finds a list");
}

tl::unexpected<Error> no_code_for(CudaTarget target, const Version& toolkit) {
    std::vector<std::string> able;
    for (const auto& one : latest_toolkits()) {
        if (makes_code_for(one, target)) able.push_back(one.to_string());
    }
    return fail(
        ErrorKind::Parse,
        fmt::format("cuda_arch_list has {}, but CUDA {} (cuda_version) cannot compile for it",
                    target.to_string(),
                    toolkit.to_string()),
        able.empty() ? fmt::format("remove {} from cuda_arch_list", target.to_string())
                     : fmt::format("remove {} from cuda_arch_list, or build with CUDA {}",
                                   target.to_string(),
                                   join_or(able)));
}

/// The microarchitecture that every machine of a platform runs; empty: not known.
std::string_view family_of_platform(std::string_view platform) {
    if (platform.ends_with("-aarch64") || platform.ends_with("-arm64")) return "aarch64";
    if (platform.ends_with("-ppc64le")) return "ppc64le";
    return platform.ends_with("-64") ? "x86_64" : "";
}

class Schema {
public:
    explicit Schema(const Variant& used) : used_(used) {}

    Result<HardwareOutput> run() {
        const auto accel = value_of(used_, kAccelKey);
        const auto accelerator = accelerator_of_value(accel);
        if (!accelerator)
            return wrong_value(
                kAccelKey, accel, "use cuda (or nvidia), rocm (or amd), or cpu (or none)");
        switch (*accelerator) {
        case Accelerator::Nvidia: GPKG_CHECK(add_cuda()); break;
        case Accelerator::Amd: GPKG_CHECK(add_rocm()); break;
        case Accelerator::None: output_.flags.emplace_back("cpu"); break;
        }
        GPKG_CHECK(add_psabi());
        GPKG_CHECK(add_word(kBlasKey));
        GPKG_CHECK(add_word(kMpiKey));
        return std::move(output_);
    }

private:
    Result<void> add_cuda() {
        output_.flags.emplace_back("cuda");
        const auto version = value_of(used_, kCudaVersionKey);
        auto driver = std::string("__cuda");
        std::optional<Version> toolkit;
        if (!version.empty()) {
            auto parsed = parse_toolkit(version);
            if (!parsed) return wrong_value(kCudaVersionKey, version, parsed.error().message);
            toolkit = *std::move(parsed);
            output_.flags.push_back("cuda:" + flag_word(version));
            // A driver runs what is built with any minor version of its major version (NVIDIA,
            // "CUDA Compatibility", minor version compatibility), as cuda-version has it too.
            driver += fmt::format(" >={}", version.substr(0, version.find('.')));
        }
        output_.depends.push_back(driver);

        const auto list = value_of(used_, kCudaArchListKey);
        std::vector<std::string> ranges;
        for (const auto& item : split_targets(list)) {
            if (is_word_for_many(item)) return word_for_many(item, toolkit);
            const auto code = parse_cuda_code(item);
            if (!code)
                return wrong_value(
                    kCudaArchListKey,
                    list,
                    fmt::format("{}; use for example 8.0;9.0a;12.0+PTX", code.error().message));
            if (toolkit && !makes_code_for(*toolkit, code->target))
                return no_code_for(code->target, *toolkit);
            const auto target = code->target.digits();
            if (code->has_sass) output_.flags.push_back("sm:" + target);
            if (code->has_ptx) output_.flags.push_back("ptx:" + target);
            ranges.push_back(devices_of(*code));
        }
        if (!ranges.empty())
            output_.depends.push_back(fmt::format("__cuda_arch {}", fmt::join(ranges, "|")));
        return {};
    }

    Result<void> add_rocm() {
        output_.flags.emplace_back("rocm");
        const auto version = value_of(used_, kRocmVersionKey);
        if (!version.empty()) {
            if (!Version::parse(version) || !is_flag("rocm:" + flag_word(version)))
                return wrong_value(kRocmVersionKey, version, "use for example 6.4");
            output_.flags.push_back("rocm:" + flag_word(version));
        }
        output_.depends.emplace_back("__amdgpu");

        const auto list = value_of(used_, kGfxListKey);
        std::vector<std::string> devices;
        bool has_generic = false;
        for (const auto& item : split_targets(list)) {
            const auto target = item.substr(0, item.find(':'));  // without features: xnack-
            const auto device = gfx_version(target);
            const bool is_generic = target.starts_with("gfx") && target.ends_with("-generic");
            if (!device && !is_generic)
                return wrong_value(kGfxListKey, list, "use for example gfx90a;gfx942");
            if (!is_known_gfx(target))
                return wrong_value(kGfxListKey, list, fmt::format("{}: unknown target", target));
            has_generic = has_generic || is_generic;
            output_.flags.push_back("gfx:" + flag_word(target.substr(3)));
            if (device) devices.push_back("==" + *device);
        }
        // A generic target is for devices that the list does not name.
        if (!devices.empty() && !has_generic)
            output_.depends.push_back(fmt::format("__amdgpu_arch {}", fmt::join(devices, "|")));
        return {};
    }

    /// The microarchitecture that the code is for, and all that run its code.
    Result<void> add_psabi() {
        const auto name = value_of(used_, kPsabiKey);
        if (name.empty()) return {};
        // The psABI's first level is what archspec calls x86_64.
        const auto* entry = find_microarchitecture(name == "x86_64_v1" ? "x86_64" : name);
        if (entry == nullptr)
            return wrong_value(
                kPsabiKey, name, "use an archspec name: x86_64_v1 to x86_64_v4, zen4, neoverse_v1");
        const auto platform = value_of(used_, "target_platform");
        const auto family = family_of_platform(platform);
        const auto ancestry = lineage(entry->name);
        const bool is_of_it = std::find(ancestry.begin(), ancestry.end(), family) != ancestry.end();
        if (!family.empty() && !is_of_it)
            return fail(
                ErrorKind::Parse,
                fmt::format("psabi={} is not a microarchitecture of {}, the target platform",
                            name,
                            platform),
                fmt::format("use one that runs code for {}", family));
        output_.flags.push_back("psabi:" + flag_word(name));
        if (entry->parents.empty()) return {};  // what every machine of the platform runs
        std::vector<std::string_view> runners;
        for (const auto& other : microarchitectures()) {
            const auto line = lineage(other.name);
            if (std::find(line.begin(), line.end(), name) != line.end())
                runners.push_back(other.name);
        }
        output_.depends.push_back(fmt::format("__archspec * ^({})$", fmt::join(runners, "|")));
        return {};
    }

    /// A key whose value is the name of an implementation.
    Result<void> add_word(std::string_view key) {
        const auto name = value_of(used_, key);
        if (name.empty()) return {};
        auto flag = fmt::format("{}:{}", key, name);
        if (!is_flag(flag))
            return wrong_value(key, name, "use one word of lower case letters, digits and _");
        output_.flags.push_back(std::move(flag));
        return {};
    }

    const Variant& used_;
    HardwareOutput output_;
};

}  // namespace

Result<HardwareOutput> hardware_output(const Variant& used) {
    if (!used.contains(std::string(kAccelKey))) return HardwareOutput{};
    return Schema(used).run();
}

bool says_nothing_of_hardware(const Variant& variant, std::string_view key) {
    const auto* known = find_hardware_key(key);
    if (known == nullptr || !known->of || !variant.contains(std::string(kAccelKey))) return false;
    return accelerator_of_value(value_of(variant, kAccelKey)) != known->of;
}

}  // namespace gpkg
