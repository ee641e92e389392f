#pragma once

// Keeping build scripts from the network and from files that no recipe declared: bubblewrap, which
// makes a view of the file system for one command. Used by the builder only.

#include "libcore/process/process.hpp"

#include <optional>
#include <string_view>

namespace gpkg {

// Where a script in the sandbox sees its folders: the same on every machine and for every user, so
// that nothing it writes down (debug information, say) tells where it was built.
inline constexpr std::string_view kSandboxFolder = "/gpkg-build";
inline constexpr std::string_view kSandboxRecipe = "/gpkg-recipe";

struct SandboxView {
    fs::path build_folder;  ///< seen as kSandboxFolder, and writable. Its `tmp` is /tmp too.
    fs::path prefix;        ///< seen as canonical_placeholder(), and writable
    fs::path recipe;        ///< seen as kSandboxRecipe
    bool network = false;
};

/// Why scripts cannot be kept in on this machine; no value when they can.
std::optional<std::string> why_no_sandbox();

/// `command`, whose words and folder are as seen inside, to be run there: it sees the machine's
/// /usr and /etc, and of the rest only `view`. It is the user `build` on `localhost`, whoever runs
/// it, where that can be.
Result<ProcessCommand> in_sandbox(ProcessCommand command, const SandboxView& view);

}  // namespace gpkg
