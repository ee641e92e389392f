#pragma once

// The text that the CUDA probe writes, read: for this folder only.

#include "virtual-packages/cuda.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// The probe's lines as a report. What is no such line is a warning.
struct ProbeText {
    CudaReport report;
    std::vector<std::string> rejected;  ///< libraries that did not do, and why
    std::optional<int> announced;       ///< how many devices there should be
    bool started = false;               ///< it was the probe that spoke
    bool ended = false;
};
ProbeText parse_probe_text(std::string_view text);

}  // namespace gpkg::virtual_packages
