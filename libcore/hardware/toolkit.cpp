#include "libcore/hardware/toolkit.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
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

}  // namespace

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
