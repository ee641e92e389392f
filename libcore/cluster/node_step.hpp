#pragma once

// One task on each node of a job, and what each says.

#include "libcore/cluster/slurm_job.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What one task said: lines of a word and its values, in order.
struct NodeAnswer {
    struct Line {
        std::string word;
        std::vector<std::string> values;
        /// The first value; empty where there is none.
        std::string value() const { return values.empty() ? std::string() : values.front(); }
    };
    std::string node;
    std::vector<Line> lines;

    /// The first line with that word; null without one.
    const Line* find(std::string_view word) const;
};

/// What went wrong on one node.
struct NodeFailure {
    std::string node;
    std::string why;
};

struct NodeStep {
    std::string_view script;  ///< of node_scripts_internal.hpp
    std::vector<std::string> arguments;
    std::vector<std::string> nodes{};  ///< of the job; empty: all
    fs::path input{};                  ///< what the tasks read; empty: nothing
    std::chrono::seconds limit = std::chrono::hours(1);
};

/// Runs the script on these nodes beside whatever else the job does. An answer for each node, in
/// the order of the step's nodes; one that could not run it, or was silent, has a line "error".
/// Fails where no step can be started at all.
Result<std::vector<NodeAnswer>> run_on_nodes(const SlurmJob& job, const NodeStep& step);

/// Takes the lines of such scripts out of what srun printed; whatever else there is (a site's
/// prologue) is left out. Answers of nodes that were not asked for are added at the end.
std::vector<NodeAnswer> parse_answers(std::string_view output,
                                      const std::vector<std::string>& nodes);

/// Lines "error" of the answers.
std::vector<NodeFailure> failures_of(const std::vector<NodeAnswer>& answers);

/// An error that names the nodes, those with the same fault together; its details are
/// "failures", a list of "node" and "error".
Error error_of(const std::vector<NodeFailure>& failures, std::string hint);

}  // namespace gpkg
