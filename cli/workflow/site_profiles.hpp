#pragma once

// Profiles of machines that are not this one: of a cluster's partitions and of hosts that ssh
// reaches. As files of the folder of profiles they have names for --for: partition=gpu, host=node7.

#include "libcore/base/error.hpp"
#include "libcore/cluster/probe.hpp"
#include "libcore/cluster/slurm_nodes.hpp"
#include "virtual-packages/profile.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// What is known of one machine that stands for its kind.
struct KnownMachine {
    std::string name;  ///< of the node, or the host
    std::optional<virtual_packages::HardwareProfile> profile;
    /// Of the gpkg there, what its names do not tell, or that they tell something else.
    std::vector<std::string> remarks;
    /// Why it was not asked, where it was to be, or saw nothing of the GPUs that it is said to
    /// have.
    std::optional<Error> failure;
};

/// Asks one node of each kind, all at once, where `may_probe`; else, and where that fails or its
/// GPUs cannot be seen just now, what names tell.
std::vector<KnownMachine> know_kinds(const std::vector<NodeKind>& kinds,
                                     const ProbeOptions& options,
                                     bool may_probe);
/// The same over ssh, where no names tell anything.
std::vector<KnownMachine> know_hosts(const std::vector<std::string>& hosts,
                                     const ProbeOptions& options);

struct SiteProfile {
    std::string name;  ///< for --for: "partition=gpu", "partition=gpu:a100"
    virtual_packages::HardwareProfile profile;
};

/// For each partition what its nodes have in common, and each of its kinds where they differ. A
/// partition of several platforms has no profile of its own.
std::vector<SiteProfile> partition_profiles(const std::vector<NodeKind>& kinds,
                                            const std::vector<KnownMachine>& known);

/// What became of a profile's file.
struct WrittenProfile {
    fs::path file;
    /// Names alone do not replace what was found out by looking: then this is what stays.
    bool was_kept = false;
    virtual_packages::HardwareProfile profile;  ///< what the file has now
};

/// Nothing but a profile is written over.
Result<WrittenProfile> write_site_profile(const SiteProfile& profile, const fs::path& folder);

/// Fails where something is at `file` that is no profile.
Result<void> check_is_profile(const fs::path& file);

}  // namespace gpkg::cli
