#pragma once

// Asking another machine what it is: the gpkg there writes its profile.

#include "libcore/base/error.hpp"
#include "libcore/cluster/slurm_nodes.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace gpkg {

struct ProbeOptions {
    fs::path gpkg;                     ///< what the program is called there
    std::vector<std::string> words{};  ///< further options of srun or ssh: an account, a port
    std::chrono::seconds wait{60};     ///< for a free node, or for a connection
    std::function<bool()> cancelled{};
};

struct ProbeAnswer {
    std::string profile;  ///< the text of a hardware profile
    std::string said;     ///< what the gpkg there warned of; often empty
};

/// A job of one task on the node of this kind that is the soonest to be had, with one GPU of each
/// type that such nodes have. A partition that refuses the job (its account, say) is not the last:
/// the node's others are asked. The job sees what the node has, whatever Slurm gave it of that: the
/// variables that hide devices are taken away. Fails when no node is free in time, or when there is
/// no gpkg.
Result<ProbeAnswer> probe_by_slurm(const NodeKind& kind, const ProbeOptions& options);

/// The command that probe_by_slurm() runs first but for its script, for a person to see.
std::vector<std::string> probe_command(const NodeKind& kind, const ProbeOptions& options);

/// The same over ssh, which must not have to ask for anything: `host` is a name of ssh's,
/// user@node1 or one of its configuration.
Result<ProbeAnswer> probe_by_ssh(const std::string& host, const ProbeOptions& options);

/// Takes the profile out of what the script printed. What else was printed (a login's greeting, a
/// prologue) is left out.
Result<std::string> profile_in(std::string_view output);

}  // namespace gpkg
