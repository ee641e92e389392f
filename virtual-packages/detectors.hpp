#pragma once

// Detectors beyond gpkg's own: files NAME.yaml in the folders of host.detectors. A file says where
// on the machine to look, or which program to ask; no code of theirs is loaded here. A program runs
// in a process that the kernel keeps from writing and from the network (confine.hpp), for a limited
// time, and its answer is remembered as the CUDA driver's is. Nothing that goes wrong with a
// detector is an error: it is a warning that names the file.
//
// A program's answer, on its standard output, is YAML (JSON is, too):
//   gpkg_detected: 1
//   virtual_packages: [{name: __level_zero, version: "1.3"}]
//   gpus: [{vendor: intel, name: Intel Arc A770, memory_mib: 16384}]

#include "virtual-packages/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

struct Detected {
    std::vector<DetectedPackage> packages;
    std::vector<GpuDevice> gpus;
    std::vector<std::string> warnings;
    std::vector<std::string> notes;  ///< a line for each detector
};

/// Asks the detectors. A program all of whose packages are among `decided` is not run.
Detected ask_detectors(const Host& host, const std::vector<std::string>& decided);

/// What the detectors may find on one machine or another, sorted: reads their files, asks nothing.
std::vector<std::string> detectable_packages(const Host& host);

}  // namespace gpkg::virtual_packages
