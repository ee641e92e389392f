#include "libcore/hardware/toolkit.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/gpu_targets.hpp"

#include <algorithm>

namespace gpkg {
namespace {

/// "12.6" of "cuda126_mkl_h4a15719_0" and "cuda126py312h3fd9d12_200", "10.2" of "py39_cu102_0".
std::optional<std::string> cuda_of_build(std::string_view build) {
    for (const auto token : split(build, '_')) {
        if (!token.starts_with("cu")) continue;
        const auto rest = token.substr(token.starts_with("cuda") ? 4 : 2);
        const auto end = std::min(rest.find_first_not_of("0123456789."), rest.size());
        const auto behind = rest.substr(end);
        if (end > 0 && is_digit(rest.front()) && (behind.empty() || behind.starts_with("py")))
            return dotted_cuda(rest.substr(0, end));
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
    for (const auto name : kCudaVersionPackages) {
        for (const auto& depend : record.depends) {
            if (name_in_spec(depend) != name) continue;
            const auto spec = MatchSpec::parse(depend);
            if (!spec || !spec->version) continue;
            const auto versions = spec->version->own_literals();
            const auto least = std::min_element(versions.begin(), versions.end());
            if (least != versions.end()) return least->to_string();
        }
    }
    return cuda_of_build(record.build);
}

}  // namespace gpkg
