#include "libcore/hardware/gpu_libraries.hpp"

#include <algorithm>
#include <array>

namespace gpkg {
namespace {

struct Drop {
    std::string_view library;
    std::string_view since;
    std::string_view capability;
};

constexpr auto kDrops = std::to_array<Drop>({
    {"cudnn", "9.11", "7.5"},
    {"libcudnn", "9.11", "7.5"},
    {"flash-attn", "2", "8.0"},
    {"libcudf", "24.02", "7.0"},
    {"libcugraph", "24.02", "7.0"},
    {"libcuml", "24.02", "7.0"},
    {"libcuspatial", "24.02", "7.0"},
    {"libcuvs", "24.02", "7.0"},
    {"libraft", "24.02", "7.0"},
});

}  // namespace

std::optional<LeastDevice> least_device_of(std::string_view library) {
    const auto* drop = std::ranges::find(kDrops, library, &Drop::library);
    if (drop == kDrops.end()) return std::nullopt;
    return LeastDevice{*Version::parse(drop->since), *Version::parse(drop->capability)};
}

}  // namespace gpkg
