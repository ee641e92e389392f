#pragma once

// A file, or what an archive of an environment holds, on the local disk of every node of a job. It
// lies in a folder of the job's own (gpkg-job-NUMBER), which only its user may enter.

#include "libcore/cluster/node_step.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpkg {

/// What is brought to the nodes.
struct NodePayload {
    fs::path file;           ///< here
    std::string name;        ///< there, in the job's folder
    std::string sha256;      ///< of the file
    std::uint64_t size = 0;  ///< of the file
    std::uint64_t room = 0;  ///< what a node needs for it, in bytes
    bool is_pack = false;    ///< to be unpacked; else an image
};

/// Where it comes to be, and where it is not yet.
struct Placement {
    fs::path folder;                     ///< the same on every node
    bool in_memory = false;              ///< on some node it is a tmpfs
    std::vector<std::string> lacking;    ///< nodes
    std::vector<std::string> cleaned{};  ///< jobs that had ended, and of which something was left
};

/// The first of the folders that every node can take it in, being its own disk and having room; the
/// job's folder in it is made. Removes what ended jobs of this user left in these folders. Fails
/// with every node's reason where there is none.
Result<Placement> find_place(const SlurmJob& job,
                             const NodePayload& payload,
                             const std::vector<fs::path>& folders);

enum class CopyMethod {
    Auto,    ///< sbcast, and where that fails srun
    Sbcast,  ///< by slurmd from node to node
    Srun,    ///< by steps from node to node
    Read,    ///< every node reads the file, which it must see under the same path
};
/// "sbcast", "srun", "read"; "none" of Auto.
std::string_view name_of(CopyMethod method);

struct DeployOptions {
    CopyMethod method = CopyMethod::Auto;
    fs::path gpkg;  ///< as nodes have it; starts an image once
    std::function<void(const std::string&)> note{};
};

struct Deployed {
    CopyMethod method = CopyMethod::Auto;  ///< the one that did it
    double copy_seconds = 0;
    double check_seconds = 0;  ///< checksums, unpacking, starting it once
    /// The file systems that images are mounted as, with their nodes: "squashfs",
    /// "fuse.squashfuse"; others were unpacked.
    std::vector<std::pair<std::string, std::vector<std::string>>> mounted{};
    std::vector<NodeFailure> failures{};  ///< nodes that do not have it
};

/// Copies it to the nodes that lack it, compares checksums, and starts it there once. Of what
/// arrived only in part, nothing is left.
Result<Deployed> deploy(const SlurmJob& job,
                        const NodePayload& payload,
                        const Placement& placement,
                        const DeployOptions& options);

/// Removes the folders of the job on all its nodes; gives the paths.
Result<std::vector<std::string>> remove_deployed(const SlurmJob& job,
                                                 const std::vector<fs::path>& folders);

/// A script for slurm.conf's Epilog that does so when a job ends, whatever became of it. "$USER" in
/// a folder stands for the user of the job.
std::string epilog_script(const std::vector<fs::path>& folders);

}  // namespace gpkg
