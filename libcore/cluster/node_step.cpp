#include "libcore/cluster/node_step.hpp"

#include "libcore/base/has_word.hpp"
#include "libcore/base/text.hpp"
#include "libcore/cluster/node_scripts_internal.hpp"
#include "libcore/cluster/slurm_command.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

SlurmCommand srun_of(const SlurmJob& job, const NodeStep& step) {
    const auto count = step.nodes.empty() ? job.nodes.size() : step.nodes.size();
    SlurmCommand srun;
    // Nothing that the job or the user's variables say of steps counts: the step is named by the
    // job's number alone, and takes part in what other steps have.
    srun.own_allocation = true;
    srun.arguments = {"srun",
                      "--jobid=" + job.id,
                      fmt::format("--nodes={}", count),
                      fmt::format("--ntasks={}", count),
                      "--ntasks-per-node=1",
                      "--overlap",
                      "--mpi=none",
                      "--chdir=/",
                      "--kill-on-bad-exit=0",
                      "--wait=0"};
    if (!step.nodes.empty())
        srun.arguments.push_back(fmt::format("--nodelist={}", fmt::join(step.nodes, ",")));
    if (step.input.empty()) srun.arguments.emplace_back("--input=none");
    for (const auto* word : {"/bin/sh", "-c"}) srun.arguments.emplace_back(word);
    srun.arguments.push_back(fmt::format("{}{}", kNodeScript, step.script));
    srun.arguments.emplace_back("gpkg-deploy");
    srun.arguments.insert(srun.arguments.end(), step.arguments.begin(), step.arguments.end());
    srun.input = step.input;
    srun.limit = step.limit;
    srun.cancelled = job.cancelled;
    return srun;
}

}  // namespace

Result<std::vector<NodeAnswer>> run_on_nodes(const SlurmJob& job, const NodeStep& step) {
    GPKG_TRY(const auto said, ask_slurm(srun_of(job, step)));
    auto answers = parse_answers(said.output, step.nodes.empty() ? job.nodes : step.nodes);
    const auto is_silent = [](const NodeAnswer& answer) { return answer.lines.empty(); };
    if (said.exit_code != 0 && std::all_of(answers.begin(), answers.end(), is_silent))
        return fail(ErrorKind::Io,
                    fmt::format("job {}: cannot start a step on its nodes: {}",
                                job.id,
                                said.errors.empty() ? fmt::format("status {}", said.exit_code)
                                                    : last_lines(said.errors, 2)));
    if (said.exit_code == 0) return answers;
    for (auto& answer : answers) {
        if (!answer.lines.empty()) continue;
        std::string why = "no response";
        for (const auto line : split(said.errors, '\n')) {
            if (has_word(line, answer.node, "-")) why = std::string(trim(line));
        }
        answer.lines.push_back({"error", {why}});
    }
    return answers;
}

}  // namespace gpkg
