#pragma once

// What Slurm knows of its nodes, and which of them are alike.

#include "libcore/base/error.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// A kind of GPU that a node has, by Slurm's generic resources (gres.conf).
struct GpuGres {
    std::string type;  ///< as the site calls it, "a100", "nvidia_h100_80gb_hbm3"; often empty
    int count = 0;

    friend bool operator==(const GpuGres&, const GpuGres&) = default;
};

/// How soon a job could start on a node.
enum class NodeReadiness { Idle, Shared, Busy, Asleep, Unusable };

struct SlurmNode {
    std::string name;
    std::vector<std::string> partitions;  ///< sorted
    std::vector<std::string> open;        ///< those of them that start jobs
    std::vector<std::string> features;    ///< sorted
    std::vector<GpuGres> gpus;            ///< by type
    std::string layout;                   ///< sockets:cores:threads, "2:64:2"
    NodeReadiness readiness = NodeReadiness::Unusable;
};

/// Nodes with the same features, GPUs and layout: one tells of all.
struct NodeKind {
    std::vector<SlurmNode> nodes;  ///< the one that could start a job soonest first

    const SlurmNode& first() const { return nodes.front(); }
    bool is_in(const std::string& partition) const;
    std::vector<std::string> partitions() const;  ///< sorted
};

/// Reads what `sinfo --Node --format` printed, a line for each node and partition:
/// name|partition|state|features|gres|layout|up. A line that is not of this form is an error.
Result<std::vector<SlurmNode>> parse_nodes(std::string_view text);

std::vector<NodeKind> node_kinds(std::vector<SlurmNode> nodes);

/// Asks Slurm for the nodes of these partitions, of all that the user may use where none is named.
/// A partition that does not exist is an error that names those that do.
Result<std::vector<SlurmNode>> slurm_nodes(const std::vector<std::string>& partitions,
                                           const std::function<bool()>& cancelled);

/// The GPUs that such a node has, for people: "2 x a100, 1 x t4"; empty where it has none.
std::string gpus_text(const NodeKind& kind);

/// What tells one kind in a partition from the others there: the GPU's type where that does, else
/// its own features, else its first node; nothing where it is the only one. Never a '/'.
std::string label_of(const NodeKind& kind, const std::vector<NodeKind>& in_partition);

}  // namespace gpkg
