#include "libcore/hardware/old_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gpkg {
namespace {

constexpr auto kOldNames = std::to_array<OldName>({
    {"cudatoolkit",
     "bringing CUDA",
     "newer builds bring the parts of CUDA that they need, and cuda-version says which CUDA",
     "cuda-version",
     ""},
    {"pytorch-cuda",
     "choosing pytorch's CUDA",
     "conda-forge's pytorch does without; cuda-version says which CUDA",
     "cuda-version",
     "pytorch[accel=nvidia]"},
    {"pytorch-mutex", "choosing pytorch's build", "conda-forge's pytorch does without", "", ""},
    {"cpuonly",
     "choosing pytorch's build",
     "pytorch[accel=none] asks for a build for CPUs",
     "",
     "pytorch[accel=none]"},
});

}  // namespace

const OldName* old_name(std::string_view name) {
    const auto* found = std::ranges::find(kOldNames, name, &OldName::name);
    return found == kOldNames.end() ? nullptr : found;
}

std::optional<BuildInName> build_in_name(std::string_view name) {
    constexpr std::pair<std::string_view, Accelerator> kEndings[] = {{"-gpu", Accelerator::Nvidia},
                                                                     {"-cpu", Accelerator::None}};
    for (const auto& [ending, accelerator] : kEndings) {
        if (name.ends_with(ending))
            return BuildInName{std::string(name.substr(0, name.size() - ending.size())),
                               accelerator};
    }
    return std::nullopt;
}

}  // namespace gpkg
