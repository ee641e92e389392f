#include "libcore/hardware/old_names.hpp"

#include <algorithm>
#include <array>

namespace gpkg {
namespace {

constexpr auto kOldNames = std::to_array<OldName>({
    {"cudatoolkit",
     "install CUDA",
     "newer builds depend on the CUDA packages they need; select a CUDA version with cuda-version",
     "cuda-version",
     ""},
    {"pytorch-cuda",
     "select the CUDA version of pytorch",
     "pytorch from conda-forge does not need it; select a CUDA version with cuda-version",
     "cuda-version",
     "pytorch[accel=nvidia]"},
    {"pytorch-mutex",
     "select a build of pytorch",
     "pytorch from conda-forge does not need it",
     "",
     ""},
    {"cpuonly",
     "select the CPU build of pytorch",
     "use pytorch[accel=none]",
     "",
     "pytorch[accel=none]"},
});

}  // namespace

const OldName* old_name(std::string_view name) {
    const auto* found = std::ranges::find(kOldNames, name, &OldName::name);
    return found == kOldNames.end() ? nullptr : found;
}

std::optional<BuildInName> build_in_name(std::string_view name) {
    const auto dash = name.rfind('-');
    const auto ending = dash == std::string_view::npos ? "" : name.substr(dash + 1);
    if (ending != "gpu" && ending != "cpu") return std::nullopt;
    return BuildInName{std::string(name.substr(0, dash)), *accelerator_of_word(ending)};
}

}  // namespace gpkg
