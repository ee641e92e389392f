#include "libcore/hardware/hardware_keys.hpp"

#include <algorithm>

namespace gpkg {
namespace {

constexpr auto kKeys = std::to_array<HardwareKey>({
    {kAccelKey},
    {kCudaVersionKey, Accelerator::Nvidia},
    {kCudaArchListKey, Accelerator::Nvidia},
    {kRocmVersionKey, Accelerator::Amd},
    {kGfxListKey, Accelerator::Amd},
    {kPsabiKey},
    {kBlasKey, std::nullopt, false},
    {kMpiKey, std::nullopt, false},
});

}  // namespace

const HardwareKey* find_hardware_key(std::string_view name) {
    const auto* found = std::find_if(
        kKeys.begin(), kKeys.end(), [&](const HardwareKey& key) { return key.name == name; });
    return found == kKeys.end() ? nullptr : found;
}

bool follows_from_machine(std::string_view key) {
    if (const auto* known = find_hardware_key(key)) return known->is_of_machine;
    constexpr auto kWords = std::to_array<std::string_view>(
        {"cuda", "cudnn", "nccl", "gpu", "rocm", "amd", "microarch", "accelerator", "arch_list"});
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
        return key.find(word) != std::string_view::npos;
    });
}

bool says_nothing(std::string_view value) {
    return value.empty() || value == "None" || value == "none";
}

std::optional<Accelerator> accelerator_of_value(std::string_view accel) {
    if (says_nothing(accel)) return Accelerator::None;
    for (const auto& row : accelerator_rows()) {
        if (accel == row.name || accel == row.word) return row.accelerator;
    }
    return std::nullopt;
}

}  // namespace gpkg
