#include "libcore/hardware/toolkit.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// "12.6" of "cuda126_mkl_h4a15719_0" and "cuda126py312h3fd9d12_200", "10.2" of "py39_cu102_0".
std::optional<std::string> cuda_of_build(std::string_view build) {
    for (const auto token : split(build, '_')) {
        if (!token.starts_with("cu")) continue;
        const auto rest = token.substr(token.starts_with("cuda") ? 4 : 2);
        const auto end = std::min(rest.find_first_not_of("0123456789."), rest.size());
        const auto behind = rest.substr(end);
        // "cuda0.0" is without one.
        if (end > 0 && is_digit(rest.front()) && rest.front() != '0' &&
            (behind.empty() || behind.starts_with("py")))
            return dotted_cuda(rest.substr(0, end));
    }
    return std::nullopt;
}

/// "6.4" of "rocm64_py312_0", "6" of "rocm6_0".
std::optional<std::string> rocm_of_build(std::string_view build) {
    for (const auto token : split(build, '_')) {
        if (!token.starts_with("rocm")) continue;
        const auto rest = token.substr(4);
        const auto end = std::min(rest.find_first_not_of("0123456789."), rest.size());
        if (end == 0 || rest.front() == '0') continue;
        const auto digits = std::string(rest.substr(0, end));
        return end > 1 && digits.find('.') == std::string::npos
                   ? digits.substr(0, 1) + "." + digits.substr(1)
                   : digits;
    }
    return std::nullopt;
}

/// The least version of the first that tells one of CUDA, and counts.
template <class Counts>
std::optional<std::string> least_cuda(const std::vector<std::string>& specs, const Counts& counts) {
    for (const auto name : kCudaVersionPackages) {
        for (const auto& text : specs) {
            if (name_in_spec(text) != name) continue;
            const auto spec = MatchSpec::parse(text);
            if (!spec || !spec->version || !counts(*spec->version)) continue;
            const auto versions = spec->version->own_literals();
            const auto least = std::min_element(versions.begin(), versions.end());
            if (least != versions.end()) return least->to_string();
        }
    }
    return std::nullopt;
}

/// The packages whose version is the toolkit's. pytorch-cuda 12.1 stands beside parts of 12.5, so
/// that its minor version says nothing.
struct Stand {
    std::string_view name;
    Accelerator vendor;
    bool tells_minor = true;
};

constexpr auto kStands = std::to_array<Stand>({
    {"cuda-version", Accelerator::Nvidia},
    {"cudatoolkit", Accelerator::Nvidia},
    {"cuda-toolkit", Accelerator::Nvidia},
    {"cuda", Accelerator::Nvidia},
    {"pytorch-cuda", Accelerator::Nvidia, false},
    {"rocm-core", Accelerator::Amd},
    {"rocm-version", Accelerator::Amd},
});

const Stand* find_stand(std::string_view name) {
    const auto* found = std::ranges::find(kStands, name, &Stand::name);
    return found == kStands.end() ? nullptr : found;
}

/// Parts with versions of their own: from a version on, part of this major version of CUDA
/// (NVIDIA, "CUDA Toolkit Release Notes", component versions of 11.0 to 13.0).
struct Numbering {
    std::string_view name;
    std::string_view from;
    int major;
};

constexpr auto kNumberings = std::to_array<Numbering>({
    {"libcublas", "11", 11},     {"libcublas", "12", 12},       {"libcublas", "13", 13},
    {"libcufft", "10.1", 11},    {"libcufft", "11", 12},        {"libcufft", "12", 13},
    {"libcufile", "1.0", 11},    {"libcufile", "1.5", 12},      {"libcufile", "1.15", 13},
    {"libcurand", "10.2.1", 11}, {"libcurand", "10.3.1", 12},   {"libcurand", "10.4", 13},
    {"libcusolver", "10.5", 11}, {"libcusolver", "11.4.2", 12}, {"libcusolver", "12", 13},
    {"libcusparse", "11", 11},   {"libcusparse", "12", 12},     {"libcusparse", "12.6", 13},
    {"libnpp", "11", 11},        {"libnpp", "12", 12},          {"libnpp", "13", 13},
    {"libnvjpeg", "11", 11},     {"libnvjpeg", "12", 12},       {"libnvjpeg", "13", 13},
    {"libnvjitlink", "12", 12},  {"libnvjitlink", "13", 13},    {"libnvfatbin", "12", 12},
    {"libnvfatbin", "13", 13},   {"libnvvm-samples", "11", 11}, {"libnvvm-samples", "12", 12},
});

/// "libcublas" of "libcublas-dev".
std::string_view without_output(std::string_view name) {
    for (const auto output : {"-dev", "-static"}) {
        if (name.ends_with(output)) name.remove_suffix(std::string_view(output).size());
    }
    return name;
}

/// Nothing of a package that is not numbered by itself.
std::optional<int> cuda_by_numbering(std::string_view name, const Version& version) {
    std::optional<int> major;
    for (const auto& row : kNumberings) {
        if (row.name != name) continue;
        if (Version::parse(row.from).value() <= version) major = row.major;
    }
    return major;
}

/// Parts that are numbered as the toolkit is: cuda-nvcc, cuda-cudart, rocm-device-libs.
bool is_numbered_as_toolkit(std::string_view name) {
    constexpr auto kOthers = std::to_array<std::string_view>(
        {"cuda-core", "cuda-pathfinder", "cuda-compat", "cuda-tile", "cuda-nsight"});
    return name.starts_with("cuda-") &&
           std::ranges::none_of(kOthers, [&](auto other) { return name.starts_with(other); });
}

bool is_known_major(int major) {
    const auto& known = known_toolkits();
    return version_part(known.front(), 0) <= major && major <= version_part(known.back(), 0) + 1;
}

/// What is made with a release goes with later ones of its major version; before 11 releases of
/// CUDA do not go with each other (NVIDIA, "CUDA Compatibility").
ToolkitRange at_least(Accelerator vendor, ToolkitVersion from) {
    const bool is_alone = vendor == Accelerator::Nvidia && from.major < kFirstCompatibleCuda;
    return {vendor, from, is_alone ? from : ToolkitVersion{from.major, ToolkitVersion::kLastMinor}};
}

/// Releases of the major versions of a toolkit, also some that are still to come.
const std::vector<Version>& possible_releases(Accelerator vendor) {
    const auto make = [](int first, int last) {
        constexpr int kLikelyMinors = 12;
        std::vector<Version> releases;
        for (int major = first; major <= last; ++major) {
            for (int minor = 0; minor <= kLikelyMinors; ++minor)
                releases.push_back(*Version::parse(fmt::format("{}.{}", major, minor)));
            releases.push_back(
                *Version::parse(fmt::format("{}.{}", major, int{ToolkitVersion::kLastMinor})));
        }
        releases.push_back(Version::from_number(9999));
        return releases;
    };
    static const auto cuda = make(version_part(known_toolkits().front(), 0),
                                  version_part(known_toolkits().back(), 0) + 1);
    static const auto rocm = make(4, 9);
    return vendor == Accelerator::Nvidia ? cuda : rocm;
}

/// The releases that a version spec takes, from the first to the last.
std::optional<ToolkitRange> releases_in(const VersionSpec& spec, Accelerator vendor) {
    std::optional<ToolkitRange> range;
    const auto probe = [&](const Version& version) {
        const auto release = ToolkitVersion::of(version);
        if (!release || !spec.matches(version)) return;
        if (!range) range = ToolkitRange{vendor, *release, *release};
        range->first = std::min(range->first, *release);
        range->last = std::max(range->last, *release);
    };
    std::ranges::for_each(spec.literals(), probe);
    std::ranges::for_each(possible_releases(vendor), probe);
    return range;
}

}  // namespace

std::optional<ToolkitVersion> ToolkitVersion::of(const Version& version) {
    const ToolkitVersion release{version_part(version, 0), version_part(version, 1)};
    return release.major > 0 ? std::optional(release) : std::nullopt;
}

std::string ToolkitVersion::to_string() const { return fmt::format("{}.{}", major, minor); }

ToolkitRange ToolkitRange::whole_majors() const {
    return {vendor, {first.major, 0}, {last.major, ToolkitVersion::kLastMinor}};
}

bool is_toolkit_part(std::string_view name) {
    return tells_cuda_version(name) || is_vendor_part(name);
}

std::string_view toolkit_title(Accelerator vendor) { return compute_platform(vendor); }

std::string ToolkitRange::to_string() const {
    const auto title = toolkit_title(vendor);
    if (first == last) return fmt::format("{} {}", title, first.to_string());
    const bool is_open = last.minor == ToolkitVersion::kLastMinor;
    if (first.major == last.major && is_open)
        return first.minor == 0 ? fmt::format("{} {}", title, first.major)
                                : fmt::format("{} {}.{} or newer", title, first.major, first.minor);
    return fmt::format("{} {} to {}",
                       title,
                       first.to_string(),
                       is_open ? std::to_string(last.major) : last.to_string());
}

std::optional<ToolkitRange> toolkit_of_dependency(const MatchSpec& dependency) {
    const auto* stand = find_stand(dependency.name);
    if (stand == nullptr || !dependency.version || dependency.version->is_any())
        return std::nullopt;
    const auto range = releases_in(*dependency.version, stand->vendor);
    return range && !stand->tells_minor ? range->whole_majors() : range;
}

std::optional<ToolkitRange> toolkit_of_build(Accelerator vendor, std::string_view build) {
    if (vendor == Accelerator::None) return std::nullopt;
    const auto told = vendor == Accelerator::Nvidia ? cuda_of_build(build) : rocm_of_build(build);
    const auto version = told ? Version::parse(*told) : Version::parse("");
    const auto release = version ? ToolkitVersion::of(*version) : std::nullopt;
    if (!release) return std::nullopt;
    // A major version alone: "cuda13".
    if (told->find('.') == std::string::npos)
        return ToolkitRange{vendor, *release, *release}.whole_majors();
    return at_least(vendor, *release);
}

std::optional<ToolkitRange> toolkit_of_part(std::string_view name, const Version& version) {
    const auto release = ToolkitVersion::of(version);
    if (!release) return std::nullopt;
    if (const auto* stand = find_stand(name)) {
        if (!stand->tells_minor)
            return ToolkitRange{stand->vendor, *release, *release}.whole_majors();
        const bool is_toolkit = name == "cuda-version" || name == "cudatoolkit";
        return is_toolkit ? ToolkitRange{stand->vendor, *release, *release}
                          : at_least(stand->vendor, *release);
    }
    const auto whole = without_output(name);
    if (const auto major = cuda_by_numbering(whole, version))
        return ToolkitRange{Accelerator::Nvidia, {*major, 0}, {*major, 0}}.whole_majors();
    if (is_numbered_as_toolkit(whole) && is_known_major(release->major))
        return at_least(Accelerator::Nvidia, *release);
    return std::nullopt;
}

std::optional<ToolkitRange> toolkit_of_request(const MatchSpec& spec) {
    if (const auto stated = toolkit_of_dependency(spec)) return stated;
    if (!spec.version || spec.version->is_any() || !is_numbered_as_toolkit(spec.name))
        return std::nullopt;
    return releases_in(*spec.version, Accelerator::Nvidia);
}

std::optional<ToolkitRange> toolkit_of(const PackageRecord& record) {
    for (const auto& text : record.depends) {
        if (find_stand(name_in_spec(text)) == nullptr) continue;
        const auto dependency = MatchSpec::parse(text);
        if (!dependency || dependency->when) continue;
        if (const auto range = toolkit_of_dependency(*dependency)) return range;
    }
    const auto accelerator = accelerator_of(record).accelerator;
    if (const auto range = toolkit_of_build(accelerator, record.build)) return range;
    const auto version = version_of(record);
    return version && is_toolkit_part(record.name) ? toolkit_of_part(record.name, *version)
                                                   : std::nullopt;
}

ToolkitFit toolkit_fit(ToolkitVersion version, std::optional<ToolkitVersion> driver) {
    using enum ToolkitFit::Class;
    constexpr int kMajor = 100;
    const auto number = version.major * kMajor + version.minor;
    if (!driver) return {Supported, -number};
    const auto newest = driver->major * kMajor + driver->minor;
    if (version.major == driver->major)
        return number <= newest ? ToolkitFit{Supported, newest - number}
                                : ToolkitFit{LaterMinor, number - newest};
    return number < newest ? ToolkitFit{EarlierMajor, newest - number}
                           : ToolkitFit{LaterMajor, number - newest};
}

ToolkitFit toolkit_fit(const ToolkitRange& range, std::optional<ToolkitVersion> driver) {
    return toolkit_fit(driver ? std::clamp(*driver, range.first, range.last) : range.last, driver);
}

std::optional<ToolkitVersion> driver_release(const std::vector<PackageRecord>& virtual_packages,
                                             Accelerator vendor) {
    const auto* there =
        vendor == Accelerator::Nvidia ? find_record(virtual_packages, "__cuda") : nullptr;
    if (there == nullptr) return std::nullopt;
    const auto newest = version_of(*there);
    return newest ? ToolkitVersion::of(*newest) : std::nullopt;
}

std::optional<Version> toolkit_of_build(std::string_view build) {
    const auto told = cuda_of_build(build);
    if (!told || told->find('.') == std::string::npos) return std::nullopt;
    auto version = Version::parse(*told);
    return version ? std::optional(*std::move(version)) : std::nullopt;
}

std::vector<Version> toolkits_of(const MatchSpec& dependency) {
    if (!dependency.version || !tells_cuda_version(dependency.name)) return {};
    auto toolkits = dependency.version->literals();
    toolkits.insert(toolkits.end(), known_toolkits().begin(), known_toolkits().end());
    std::erase_if(toolkits,
                  [&](const Version& toolkit) { return !dependency.version->matches(toolkit); });
    return toolkits;
}

std::optional<std::string> cuda_of(const PackageRecord& record) {
    if (tells_cuda_version(record.name)) {
        const auto own = version_of(record);
        if (own) return fmt::format("{}.{}", version_part(*own, 0), version_part(*own, 1));
    }
    if (auto needed = least_cuda(record.depends, [](const VersionSpec&) { return true; }))
        return needed;
    if (auto said = cuda_of_build(record.build)) return said;
    // Without an end it is for whatever CUDA there is.
    const auto never = Version::from_number(9999);
    return least_cuda(record.constrains,
                      [&](const VersionSpec& versions) { return !versions.matches(never); });
}

}  // namespace gpkg
