#include "libcore/hardware/toolkit.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

namespace gpkg {
namespace {

struct Stand {
    const Vendor* vendor = nullptr;
    const ToolkitPackage* package = nullptr;
};

std::optional<Stand> find_stand(std::string_view name) {
    for (const auto& vendor : vendors()) {
        if (const auto* package = vendor.find_toolkit_package(name)) return Stand{&vendor, package};
    }
    return std::nullopt;
}

/// The least version of the first that tells one of CUDA. Without an end, where that counts, it is
/// for whatever CUDA there is.
std::optional<std::string> least_cuda(const std::vector<std::string>& specs, bool needs_end) {
    static const auto never = Version::from_number(9999);
    for (const auto name : cuda_version_packages()) {
        for (const auto& text : specs) {
            if (name_in_spec(text) != name) continue;
            const auto spec = MatchSpec::parse(text);
            if (!spec || !spec->version || (needs_end && spec->version->matches(never))) continue;
            const auto versions = spec->version->own_literals();
            const auto least = std::ranges::min_element(versions);
            if (least != versions.end()) return least->to_string();
        }
    }
    return std::nullopt;
}

/// "libcublas" of "libcublas-dev".
std::string_view without_output(std::string_view name) {
    for (const auto output : {"-dev", "-static"}) {
        if (name.ends_with(output)) name.remove_suffix(std::string_view(output).size());
    }
    return name;
}

/// Nothing of a package that is not numbered by itself.
std::optional<int> major_by_numbering(const Vendor& vendor,
                                      std::string_view name,
                                      const Version& version) {
    std::optional<int> major;
    for (const auto& row : vendor.numberings) {
        if (row.name == name && Version::parse(row.from).value() <= version) major = row.major;
    }
    return major;
}

/// cuda-nvcc, cuda-cudart
bool is_numbered_as_toolkit(const Vendor& vendor, std::string_view name) {
    return !vendor.numbered_beginning.empty() && name.starts_with(vendor.numbered_beginning) &&
           !begins_with_one_of(name, vendor.numbered_otherwise);
}

ToolkitRange exactly(Accelerator vendor, ToolkitVersion release) {
    return {vendor, release, release};
}

bool is_compatible(Accelerator vendor, ToolkitVersion release) {
    return release.major >= row_of(vendor).first_compatible_major;
}

/// What is made with a release goes with later ones of its major version.
ToolkitRange at_least(ToolkitRange range) {
    if (is_compatible(range.vendor, range.first)) range.last = range.whole_majors().last;
    return range;
}

/// Releases of the major versions of a toolkit, also some that are still to come, and the version
/// that each has.
std::vector<std::pair<ToolkitVersion, Version>> possible_releases(const Vendor& vendor) {
    constexpr int kLikelyMinors = 12;
    std::vector<std::pair<ToolkitVersion, Version>> releases;
    const auto add = [&](int major, int minor) {
        const ToolkitVersion release{major, minor};
        releases.emplace_back(release, *Version::parse(release.to_string()));
    };
    add(9999, 0);
    for (int major = vendor.first_major; major <= vendor.last_major; ++major) {
        for (int minor = 0; minor <= kLikelyMinors; ++minor) add(major, minor);
        add(major, ToolkitVersion::kLastMinor);
    }
    return releases;
}

/// The releases that a version spec takes, from the first to the last.
std::optional<ToolkitRange> releases_in(const VersionSpec& spec, const Vendor& vendor) {
    static const auto possible = [] {
        std::map<Accelerator, std::vector<std::pair<ToolkitVersion, Version>>> all;
        for (const auto& one : vendors()) all[one.accelerator] = possible_releases(one);
        return all;
    }();
    std::optional<ToolkitRange> range;
    const auto probe = [&](ToolkitVersion release, const Version& version) {
        const bool is_inside = range && range->contains(release);
        if (is_inside || !spec.matches(version)) return;
        if (!range) range = exactly(vendor.accelerator, release);
        range->first = std::min(range->first, release);
        range->last = std::max(range->last, release);
    };
    for (const auto& version : spec.literals()) {
        if (const auto release = ToolkitVersion::of(version)) probe(*release, version);
    }
    for (const auto& [release, version] : possible.at(vendor.accelerator)) probe(release, version);
    return range;
}

std::optional<ToolkitRange> toolkit_of_build(Accelerator vendor, std::string_view build) {
    const auto release = compiled_with(vendor, build);
    return release ? std::optional(at_least(*release)) : std::nullopt;
}

}  // namespace

std::optional<ToolkitVersion> ToolkitVersion::of(const Version& version) {
    const ToolkitVersion release{version_part(version, 0), version_part(version, 1)};
    return release.major > 0 ? std::optional(release) : std::nullopt;
}

ToolkitVersion ToolkitVersion::of_driver(const Version& version) {
    constexpr int kAfterAll = 9999;
    if (Version::from_number(kAfterAll) <= version) return {kAfterAll, 0};
    return of(version).value_or(ToolkitVersion{});
}

std::string ToolkitVersion::to_string() const { return fmt::format("{}.{}", major, minor); }

ToolkitRange ToolkitRange::whole_majors() const {
    return {vendor, {first.major, 0}, {last.major, ToolkitVersion::kLastMinor}};
}

ToolkitRange ToolkitRange::compatible() const {
    return is_compatible(vendor, last) ? whole_majors() : *this;
}

std::string ToolkitRange::named() const {
    return first == last ? first.to_string() : std::to_string(first.major);
}

bool is_toolkit_part(std::string_view name) { return find_stand(name) || is_vendor_part(name); }

std::string ToolkitRange::to_string() const {
    const auto title = compute_platform(vendor);
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

std::optional<ToolkitRange> releases_of(const MatchSpec& dependency) {
    const auto stand = find_stand(dependency.name);
    if (!stand || !dependency.version || dependency.version->is_any()) return std::nullopt;
    return releases_in(*dependency.version, *stand->vendor);
}

std::optional<ToolkitRange> toolkit_of_dependency(const MatchSpec& dependency) {
    const auto range = releases_of(dependency);
    return range && find_stand(dependency.name)->package->says == ToolkitPackage::Says::Major
               ? range->whole_majors()
               : range;
}

std::optional<ToolkitRange> release_named(Accelerator vendor, std::string_view text) {
    const auto version = Version::parse(text);
    const auto release = version ? ToolkitVersion::of(*version) : std::nullopt;
    if (!release) return std::nullopt;
    const auto range = exactly(vendor, *release);
    return text.find('.') == std::string_view::npos ? range.whole_majors() : range;
}

std::optional<ToolkitRange> compiled_with(Accelerator vendor, std::string_view build) {
    if (row_of(vendor).release_words.empty()) return std::nullopt;
    for (const auto token : split(build, '_')) {
        for (const auto word : row_of(vendor).release_words) {
            if (!token.starts_with(word)) continue;
            const auto rest = token.substr(word.size());
            const auto end = std::min(rest.find_first_not_of("0123456789."), rest.size());
            const auto behind = rest.substr(end);
            // "cuda0.0" is without one.
            if (end > 0 && rest.front() != '0' && (behind.empty() || behind.starts_with("py")))
                return release_named(vendor, dotted_release(rest.substr(0, end)));
        }
    }
    return std::nullopt;
}

std::optional<ToolkitRange> toolkit_of_part(std::string_view name, const Version& version) {
    using Says = ToolkitPackage::Says;
    const auto release = ToolkitVersion::of(version);
    if (!release) return std::nullopt;
    if (const auto stand = find_stand(name)) {
        const auto range = exactly(stand->vendor->accelerator, *release);
        if (stand->package->says == Says::Release) return range;
        return stand->package->says == Says::Major ? range.whole_majors() : at_least(range);
    }
    const auto whole = without_output(name);
    for (const auto& vendor : vendors()) {
        const auto of = vendor.accelerator;
        if (const auto major = major_by_numbering(vendor, whole, version))
            return exactly(of, {*major, 0}).whole_majors();
        if (is_numbered_as_toolkit(vendor, whole) && vendor.first_major <= release->major &&
            release->major <= vendor.last_major)
            return at_least(exactly(of, *release));
    }
    return std::nullopt;
}

std::optional<ToolkitRange> toolkit_of_request(const MatchSpec& spec) {
    if (spec.when) return std::nullopt;
    if (const auto stated = toolkit_of_dependency(spec)) return stated;
    if (!spec.version || spec.version->is_any()) return std::nullopt;
    const auto vendor = std::ranges::find_if(
        vendors(), [&](const Vendor& one) { return is_numbered_as_toolkit(one, spec.name); });
    return vendor == vendors().end() ? std::nullopt : releases_in(*spec.version, *vendor);
}

std::optional<ToolkitRange> toolkit_of(const std::optional<ToolkitRange>& stated,
                                       Accelerator accelerator,
                                       std::string_view build,
                                       const std::optional<ToolkitRange>& as_part) {
    if (stated) return stated;
    if (const auto range = toolkit_of_build(accelerator, build)) return range;
    return as_part;
}

std::optional<ToolkitRange> toolkit_of(const PackageRecord& record) {
    std::optional<ToolkitRange> stated;
    for (const auto& text : record.depends) {
        if (stated || !find_stand(name_in_spec(text))) continue;
        const auto dependency = MatchSpec::parse(text);
        if (dependency && !dependency->when) stated = toolkit_of_dependency(*dependency);
    }
    const auto version = version_of(record);
    const auto as_part = version && is_toolkit_part(record.name)
                             ? toolkit_of_part(record.name, *version)
                             : std::nullopt;
    return toolkit_of(stated, accelerator_of(record).accelerator, record.build, as_part);
}

DriverFit driver_fit(ToolkitVersion release,
                     ToolkitVersion driver,
                     const std::optional<ToolkitVersion>& compat) {
    if (release <= driver) return DriverFit::Native;
    if (compat && release <= *compat) return DriverFit::Forward;
    return release.major == driver.major && is_compatible(Accelerator::Nvidia, release)
               ? DriverFit::MinorVersion
               : DriverFit::No;
}

DriverFit driver_fit(const Version& toolkit,
                     const Version& driver,
                     const std::optional<Version>& compat) {
    return driver_fit(ToolkitVersion::of(toolkit).value_or(ToolkitVersion{}),
                      ToolkitVersion::of_driver(driver),
                      compat ? ToolkitVersion::of(*compat) : std::nullopt);
}

ToolkitFit toolkit_fit(ToolkitVersion version, std::optional<ToolkitVersion> driver) {
    using enum ToolkitFit::Class;
    if (!driver) return {Supported, -version.number()};
    const auto distance = std::abs(version.number() - driver->number());
    const auto fit = driver_fit(version, *driver);
    if (fit != DriverFit::Native)
        return {fit == DriverFit::MinorVersion ? LaterMinor : NotRun, distance};
    return {version.major == driver->major ? Supported : EarlierMajor, distance};
}

ToolkitFit toolkit_fit(const ToolkitRange& range, std::optional<ToolkitVersion> driver) {
    return toolkit_fit(driver ? std::clamp(*driver, range.first, range.last) : range.last, driver);
}

std::optional<ToolkitVersion> driver_release(const std::vector<PackageRecord>& virtual_packages,
                                             Accelerator vendor) {
    const auto& row = row_of(vendor);
    const auto newest =
        row.driver_tells_release ? find_version(virtual_packages, row.driver) : std::nullopt;
    return newest ? std::optional(ToolkitVersion::of_driver(*newest)) : std::nullopt;
}

std::optional<std::string> cuda_of(const PackageRecord& record) {
    if (tells_cuda_version(record.name)) {
        const auto own = version_of(record);
        if (const auto release = own ? ToolkitVersion::of(*own) : std::nullopt)
            return release->to_string();
    }
    if (auto needed = least_cuda(record.depends, false)) return needed;
    const auto release = compiled_with(Accelerator::Nvidia, record.build);
    return release ? std::optional(release->named()) : std::nullopt;
}

std::optional<std::string> cuda_beside(const PackageRecord& record) {
    return least_cuda(record.constrains, true);
}

}  // namespace gpkg
