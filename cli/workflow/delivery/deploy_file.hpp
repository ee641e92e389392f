#pragma once

// The one file of an environment that a deployment starts from. It is made once: what it is of is
// in its name.

#include "cli/workflow/delivery/imaging.hpp"
#include "libcore/cluster/deployment.hpp"

namespace gpkg::cli {

struct DeployFileOptions {
    ImagedOptions of;
    std::string file;  ///< an image or an archive that is there; empty: one of `of` is made
    bool is_pack = false;
};

/// Of the environment: what the configuration's image cache has, or one that is made and put there.
/// Concurrent jobs may do so at once.
Result<NodePayload> payload_of(Context& context, const DeployFileOptions& options);

/// Where such files are: of the configuration's cache, or where this user may not write there, of
/// the user's own.
fs::path folder_for_images(const Context& context);

/// Whether a file of the image cache is one of these, by its name.
bool is_deploy_file(const fs::path& file);

}  // namespace gpkg::cli
