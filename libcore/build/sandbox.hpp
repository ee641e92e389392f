#pragma once

// Keeping build scripts from the network and from files that no recipe declared: bubblewrap, which
// makes a view of the file system for one command. Used by the builder only.

#include "libcore/process/process.hpp"

#include <optional>
#include <vector>

namespace gpkg {

struct SandboxView {
    /// The script may write here. Its `tmp` is /tmp.
    fs::path build_folder;
    std::vector<fs::path> readable;
    bool network = false;
};

/// Why scripts cannot be kept in on this machine; no value when they can.
std::optional<std::string> why_no_sandbox();

/// `command`, to be run inside: it sees the machine's /usr and /etc, and of the rest only `view`.
ProcessCommand in_sandbox(ProcessCommand command, const SandboxView& view);

}  // namespace gpkg
