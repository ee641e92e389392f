#pragma once

// Which GPUs of a machine count. CEP 46 takes the lowest of all, so that a small card that only
// drives a screen lowers what the big one beside it gets.

#include "virtual-packages/profile.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// Some of the GPUs, as a person says it.
struct DeviceChoice {
    enum class Kind {
        All,
        Compute,  ///< without those that are there for a screen
        Some,     ///< those at `places` of HardwareProfile::gpus
    };
    Kind kind = Kind::All;
    std::vector<std::size_t> places;
    /// Said once and for all, maybe of another machine: numbers that no device has say nothing,
    /// and where all are such, every device counts.
    bool is_standing = false;

    /// "all", "compute", or numbers as `gpkg hardware` shows them: "0,2". Usage errors.
    static Result<DeviceChoice> parse(std::string_view text);
};

/// A device with 4 GiB or less beside one with at least four times as much memory, of either
/// vendor: a card for a screen, or the GPU in a processor.
bool is_for_screen(const HardwareProfile& profile, std::size_t place);

/// Whether the choice lets the device at `place` count.
bool counts(const HardwareProfile& profile, const DeviceChoice& choice, std::size_t place);

/// Takes the other devices out; a vendor's driver without one that counts is none. A Usage error
/// for a number that no device has.
Result<void> keep_devices(HardwareProfile& profile, const DeviceChoice& choice);

/// What the devices for a screen cost where all count: "GeForce GT 1030 makes __cuda_arch 6.1,
/// which is 9.0 without it".
std::optional<std::string> cost_of_screens(const HardwareProfile& profile);

}  // namespace gpkg::virtual_packages
