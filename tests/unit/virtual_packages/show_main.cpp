// Shows what the detectors find on the machine it runs on: `show_virtual_packages [PLATFORM]`.
// Only end-to-end tests run it.

#include "virtual-packages/cuda.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <cstdio>
#include <string_view>

using namespace gpkg::virtual_packages;

int main(int count, char** arguments) {
    if (count > 1 && std::string_view(arguments[1]) == kCudaProbeVerb)
        cuda_probe_main(std::span<char* const>(arguments + 2, static_cast<std::size_t>(count) - 2));

    auto host = this_machine();
    if (count > 1) host.platform = arguments[1];
    const auto detection = detect_all(host);
    for (const auto& [package, source] : detection.packages)
        std::printf("%-30s %s\n", package.to_string().c_str(), source.c_str());
    for (const auto& warning : detection.warnings) std::printf("warning: %s\n", warning.c_str());
    std::printf("---\n%s", format_profile(detect_profile(host).profile).c_str());
    return 0;
}
