#pragma once

// An environment on the local disks of a job's nodes, and the batch scripts that bring it there.

#include "cli/workflow/delivery/deploy_file.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct DeployRequest {
    DeployFileOptions what;
    std::vector<std::string> folders;  ///< on nodes, the first that all can use; empty: the setting
    CopyMethod method = CopyMethod::Auto;
};

struct Deployment {
    NodePayload payload;
    Placement placement;
    Deployed done;
    std::vector<std::string> nodes;
    double file_seconds = 0;   ///< for the file that is brought
    double place_seconds = 0;  ///< for a place on the nodes

    fs::path path() const { return placement.folder / payload.name; }
};

/// Brings it to every node of the job that this process is in. What is worth knowing on the way is
/// told. That some nodes do not have it is in the outcome.
Result<Deployment> deploy_to_job(Context& context, const DeployRequest& request);

/// Removes what deployments of this job brought, on all its nodes; tells where. Whether there was
/// anything.
Result<bool> clean_job(Context& context, const std::vector<std::string>& folders);

/// Folders on nodes, best first: those named, else those of the settings, else TMPDIR and /tmp.
std::vector<fs::path> local_folders(const Context& context, const std::vector<std::string>& named);

/// How a command is started in the environment at `place`, words of a shell: `srun gpkg image run
/// "$env" -- COMMAND`.
Result<std::string> start_words(const std::string& place, bool is_pack, const std::string& command);

/// A script for sbatch that deploys the file, which is made now, runs the command (empty: says
/// where it goes) and cleans up.
Result<std::string> batch_script(Context& context,
                                 const DeployRequest& request,
                                 const std::vector<std::string>& command);

}  // namespace gpkg::cli
