// Bringing a file to nodes, and making it there what it is to be.

#include "libcore/base/text.hpp"
#include "libcore/cluster/deployment.hpp"
#include "libcore/cluster/node_scripts_internal.hpp"
#include "libcore/cluster/slurm_command.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Clock = std::chrono::steady_clock;

/// What is in the way of an interrupted deployment is not waited for.
constexpr std::chrono::seconds kToDrop{20};
/// A file system that hangs is not waited for longer than this.
constexpr std::chrono::seconds kToCopy = std::chrono::hours(2);

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Whether a node took part.
bool says_anything(const std::vector<NodeAnswer>& answers, const std::string& node) {
    return std::any_of(answers.begin(), answers.end(), [&](const NodeAnswer& answer) {
        return answer.node == node &&
               (answer.find("got") != nullptr || answer.find("error") != nullptr);
    });
}

std::vector<std::string> warnings_of(const std::vector<NodeAnswer>& answers) {
    std::vector<std::string> warnings;
    for (const auto& answer : answers) {
        for (const auto& line : answer.lines) {
            if (line.word == "warning") warnings.push_back(line.value());
        }
    }
    return warnings;
}

/// Of nodes behind one that could not be reached nothing is said.
std::string why_unreached(const std::vector<std::string>& warnings, const std::string& node) {
    for (const auto& warning : warnings) {
        if (warning.starts_with(fmt::format("to {}: ", node))) return warning;
    }
    return warnings.empty() ? "srun could not copy it there" : warnings.front();
}

/// One deployment on its way.
class Delivery {
public:
    Delivery(const SlurmJob& job,
             const NodePayload& payload,
             const Placement& placement,
             const DeployOptions& options)
        : job_(job),
          payload_(payload),
          placement_(placement),
          options_(options),
          part_(fmt::format(".{}.{}.part", payload.name, random_suffix())) {}

    Result<Deployed> run();

private:
    Result<CopyMethod> copy();
    Result<void> by_sbcast();
    Result<void> by_srun();
    Result<void> arrive(CopyMethod method, Deployed& deployed);
    void drop(bool tries_again = false);

    const SlurmJob& job_;
    const NodePayload& payload_;
    const Placement& placement_;
    const DeployOptions& options_;
    std::string part_;                    ///< what it is called until it is known to be whole
    std::vector<NodeFailure> unreached_;  ///< to which it could not be copied
};

Result<void> Delivery::by_sbcast() {
    SlurmCommand sbcast;
    // As with steps, the job's number alone counts.
    sbcast.own_allocation = true;
    sbcast.arguments = {"sbcast",
                        "--jobid=" + job_.id,
                        "--force",
                        "--compress=none",
                        payload_.file.native(),
                        (placement_.folder / part_).native()};
    sbcast.limit = kToCopy;
    sbcast.cancelled = job_.cancelled;
    GPKG_TRY(const auto said, slurm_output(sbcast));
    return {};
}

/// From the first of the nodes to the others, by way of each other. Those behind one that fails are
/// tried again without it.
Result<void> Delivery::by_srun() {
    auto nodes = placement_.lacking;
    std::vector<std::string> warnings;
    while (!nodes.empty()) {
        NodeStep step;
        step.script = kRelayScript;
        step.arguments = {fmt::format("{}{}", kNodeScript, kRelayScript),
                          job_.id,
                          placement_.folder.native(),
                          part_};
        step.arguments.insert(step.arguments.end(), nodes.begin() + 1, nodes.end());
        step.nodes = {nodes.front()};
        step.input = payload_.file;
        step.limit = kToCopy;
        GPKG_TRY(const auto answers, run_on_nodes(job_, step));
        const auto failed = failures_of(answers);
        unreached_.insert(unreached_.end(), failed.begin(), failed.end());
        warnings = warnings_of(answers);
        const auto count = nodes.size();
        std::erase_if(nodes, [&](const std::string& node) { return says_anything(answers, node); });
        if (nodes.size() == count) break;
    }
    for (const auto& node : nodes) unreached_.push_back({node, why_unreached(warnings, node)});
    if (unreached_.size() < placement_.lacking.size()) return {};
    return pass(error_of(unreached_, {}));
}

/// Which way it came.
Result<CopyMethod> Delivery::copy() {
    if (options_.method == CopyMethod::Read) return CopyMethod::Read;
    const bool all = placement_.lacking.size() == job_.nodes.size();
    // sbcast knows no nodes but those of the job.
    if (options_.method == CopyMethod::Srun || !all) {
        GPKG_CHECK(by_srun());
        return CopyMethod::Srun;
    }
    auto cast = by_sbcast();
    if (cast) return CopyMethod::Sbcast;
    const bool is_stopped = cast.error().kind == ErrorKind::Interrupted;
    if (is_stopped || options_.method == CopyMethod::Sbcast) return pass(std::move(cast).error());
    drop(true);
    if (options_.note)
        options_.note(fmt::format("{}; copying from node to node with srun instead",
                                  last_lines(cast.error().message, 1)));
    GPKG_CHECK(by_srun());
    return CopyMethod::Srun;
}

Result<void> Delivery::arrive(CopyMethod method, Deployed& deployed) {
    NodeStep step;
    step.script = kArriveScript;
    for (const auto& node : placement_.lacking) {
        const bool is_reached = std::none_of(unreached_.begin(),
                                             unreached_.end(),
                                             [&](const auto& one) { return one.node == node; });
        if (is_reached) step.nodes.push_back(node);
    }
    step.arguments = {placement_.folder.native(),
                      payload_.name,
                      payload_.is_pack ? "pack" : "image",
                      payload_.sha256,
                      part_,
                      method == CopyMethod::Read ? payload_.file.native() : "",
                      options_.gpkg.native()};
    step.limit = kToCopy;
    GPKG_TRY(const auto answers, run_on_nodes(job_, step));
    deployed.failures = unreached_;
    const auto failed = failures_of(answers);
    deployed.failures.insert(deployed.failures.end(), failed.begin(), failed.end());
    for (const auto& answer : answers) {
        const auto* ready = answer.find("ready");
        if (ready == nullptr) {
            if (answer.find("error") == nullptr)
                deployed.failures.push_back({answer.node, "no response"});
            continue;
        }
        auto& mounted = deployed.mounted;
        auto same = std::find_if(mounted.begin(), mounted.end(), [&](const auto& known) {
            return known.first == ready->value();
        });
        if (same == mounted.end()) same = mounted.insert(mounted.end(), {ready->value(), {}});
        same->second.push_back(answer.node);
    }
    return {};
}

/// Also when the user wants no more: this is what has to be done then.
void Delivery::drop(bool tries_again) {
    auto job = job_;
    job.cancelled = nullptr;
    NodeStep step;
    step.script = kDropScript;
    step.arguments = {payload_.name, part_, tries_again ? "keep" : "", placement_.folder.native()};
    step.limit = kToDrop;
    static_cast<void>(run_on_nodes(job, step));
}

Result<Deployed> Delivery::run() {
    Deployed deployed;
    auto begin = Clock::now();
    auto copied = copy();
    if (!copied) {
        drop();
        return pass(std::move(copied).error());
    }
    deployed.method = *copied;
    deployed.copy_seconds = seconds_since(begin);
    begin = Clock::now();
    auto arrived = arrive(*copied, deployed);
    deployed.check_seconds = seconds_since(begin);
    // Nodes that failed have seen to that themselves, if they could.
    if (!arrived || !deployed.failures.empty()) drop();
    if (!arrived) return pass(std::move(arrived).error());
    return deployed;
}

}  // namespace

Result<Deployed> deploy(const SlurmJob& job,
                        const NodePayload& payload,
                        const Placement& placement,
                        const DeployOptions& options) {
    if (placement.lacking.empty()) return Deployed{};
    return Delivery(job, payload, placement, options).run();
}

}  // namespace gpkg
