#pragma once

// Packages that stood for a CUDA, or for builds with or without, in channels of earlier years, and
// what is asked for today.

#include "libcore/hardware/accelerator.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

struct OldName {
    std::string_view name;
    std::string_view purpose;    ///< "select the CUDA version of pytorch"
    std::string_view instead;    ///< what to do today
    std::string_view successor;  ///< what the same version is asked of today; may be empty
    std::string_view choice;     ///< what chooses such a build today; may be empty
};

/// Null where the name is none.
const OldName* old_name(std::string_view name);

/// "tensorflow-gpu" chose a build of tensorflow by its name, where there is such a package.
struct BuildInName {
    std::string package;
    Accelerator accelerator;
};
std::optional<BuildInName> build_in_name(std::string_view name);

}  // namespace gpkg
