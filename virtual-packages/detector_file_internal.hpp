#pragma once

// A detector that gpkg does not bring in its own code: a YAML file that says where on a machine to
// look, or which program to ask. docs/reference/hardware-profile.md explains it to who writes one.
//
//   gpkg_detector: 1              # the format's version
//   when:                         # all of it holds, or there is nothing to detect
//     - file: /sys/class/drm/card*/device/vendor
//       matches: "0x8086"
//     - library: libze_loader.so.1
//   virtual_packages:             # either what is there to see
//     - name: __mlx5
//       version: {file: /sys/module/mlx5_core/version, matches: '([0-9.]+)'}
//       build: "0"
//   run: gpkg-detect-level-zero   # or a program, beside this file, and its arguments
//   yields: [__level_zero]        # with `run`: what it may find
//   devices: [/dev/dri/*]         # with `run`: what it may write to

#include "virtual-packages/look_internal.hpp"
#include "virtual-packages/profile.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// A virtual package that files tell of.
struct SeenPackage {
    VirtualPackage package;
    /// In place of its version; where that sees none, there is no package.
    std::optional<Look> version_from;
};

struct Detector {
    fs::path file;
    std::vector<Look> when;
    std::vector<SeenPackage> packages;
    std::vector<std::string> run;  ///< the program first; empty: files tell it all
    std::vector<std::string> yields;
    std::vector<std::string> devices;
    std::string text;  ///< the file's

    /// The virtual packages it may find.
    std::vector<std::string> names() const;
};

/// Unknown keys, names that are not free and expressions that are none are errors.
Result<Detector> read_detector(const fs::path& file);

}  // namespace gpkg::virtual_packages
