#pragma once

// Dependencies on a whole GPU toolkit, gigabytes, where a package needs some libraries of it: which
// parts of the toolkit those are.

#include "libcore/binary/binaries.hpp"
#include "libcore/fs/file.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// cuda-toolkit, cudatoolkit, cuda-libraries, rocm and so on: packages of all that there is, or
/// that depend on all of it.
bool is_whole_toolkit(std::string_view name);

/// A package of a toolkit, and what another one may need of it.
struct ToolkitPart {
    std::string name;
    std::string version;
    std::set<std::string> libraries{};  ///< "libcublas.so.12", without links for the linker
    std::set<std::string> programs{};   ///< names in bin/
    /// Its file is not at hand: libraries are "libcublas.so", and stand for every version.
    bool is_known_by_name = false;
};

/// What a package file holds.
Result<ToolkitPart> read_toolkit_part(const fs::path& package);

/// What a part of CUDA holds by its name alone, which is conda-forge's and that of `gpkg redist
/// import`; nothing for other packages.
std::optional<ToolkitPart> known_toolkit_part(const std::string& name, const std::string& version);

struct ToolkitUse {
    std::string what;       ///< "libcublas.so.12", "ptxas"
    std::string part;       ///< name of the package that has it
    bool is_named = false;  ///< nothing is linked with it: a file has its name

    friend bool operator==(const ToolkitUse&, const ToolkitUse&) = default;
};

/// What an unpacked package uses of `parts`: libraries that its `binaries` need, and libraries and
/// programs whose names stand in its `files`, to be opened or run by name. One of the package's own
/// is no use of a part's. In the order of the parts.
Result<std::vector<ToolkitUse>> toolkit_uses(const fs::path& unpacked,
                                             const std::vector<std::string>& files,
                                             const std::vector<Binary>& binaries,
                                             const std::vector<ToolkitPart>& parts);

}  // namespace gpkg
