#pragma once

// An environment as a modulefile: Lua for Lmod, Tcl for Environment Modules. Loading one gives what
// activation gives, unloading it gives back every variable, and gpkg runs for neither, unless the
// environment is in an image, which it mounts. Both may lie
// in one folder: Lmod takes NAME/VERSION.lua where there is one, and Environment Modules knows no
// files that do not begin with "#%Module".

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/module/captured_activation.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

enum class ModuleFormat { Lua, Tcl };

/// "lua", "tcl"
std::string_view to_string(ModuleFormat format);

/// What a modulefile of gpkg says of itself in its first lines.
struct ModuleOrigin {
    fs::path prefix;
    std::string environment;  ///< what CONDA_DEFAULT_ENV calls it
    std::string packages;     ///< a digest of what is installed
    std::string wanted_name;  ///< NAME/VERSION as somebody asked for it; empty: by the template
    /// Of an environment that is in an image, to be mounted at `prefix`: the file, and `packages`
    /// is what read_image_info() calls its content.
    fs::path image{};
    fs::path disk{};     ///< where the image is brought to; empty: as gpkg image mount decides
    fs::path program{};  ///< the gpkg that mounts the image; where that is not there, one on PATH

    /// Whether both are of one environment. An image is one wherever it is mounted.
    bool is_of_same(const ModuleOrigin& other) const {
        return image == other.image && (!image.empty() || prefix == other.prefix);
    }
    friend bool operator==(const ModuleOrigin&, const ModuleOrigin&) = default;
};

struct EnvironmentModule {
    ModuleOrigin origin;
    std::string name;     ///< "ml"; may have "/"
    std::string version;  ///< "3"; empty: the name is all there is
    std::string description;
    std::vector<std::string> details;     ///< further lines of the help
    std::vector<std::string> keywords;    ///< names of packages that were asked for
    std::vector<std::string> extensions;  ///< "numpy/1.26.4", for `module spider`
    CapturedActivation activation;
};

std::string modulefile(const EnvironmentModule& module, ModuleFormat format);

/// Of a module that gpkg wrote; nothing for all other text.
std::optional<ModuleOrigin> origin_of_modulefile(std::string_view text);

/// The module that shows those of the rooms below `root` (see module_tree.hpp) that this machine
/// can use.
struct ModuleEntry {
    fs::path root;
    fs::path programs;       ///< comes into PATH; empty: nothing does
    fs::path system_config;  ///< for GPKG_SYSTEM_CONFIG, where users have no other; empty: none
};

std::string entry_modulefile(const ModuleEntry& entry, ModuleFormat format);

}  // namespace gpkg
