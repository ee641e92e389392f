#pragma once

// `gpkg lint`: what a package depends on and could do without.

#include "cli/workflow/build/sources.hpp"
#include "libcore/redist/toolkit_parts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// A run dependency on a whole toolkit.
struct ToolkitFinding {
    std::string package;                  ///< "app-1-h1234567_0"
    std::string dependency;               ///< as the package has it
    std::vector<ToolkitUse> uses;         ///< what is needed of it
    std::vector<std::string> only_whole;  ///< libraries that are needed, and that no part gives
    std::vector<std::string> instead;     ///< dependencies to write in its place
    /// Bytes to download of all that the package brings: as it is, and with the advice for each of
    /// its toolkits taken, since two of them may bring the same. None where the channels cannot
    /// give one of the two.
    std::optional<std::uint64_t> before;
    std::optional<std::uint64_t> after;

    /// The parts do for all that is needed.
    bool can_be_replaced() const { return only_whole.empty(); }
};

/// Of one package file. Parts are looked up in `channel`, a folder, and in what `sources` solve.
Result<std::vector<ToolkitFinding>> lint_package(Context& context,
                                                 BuildSources& sources,
                                                 const fs::path& channel,
                                                 const fs::path& package);

}  // namespace gpkg::cli
