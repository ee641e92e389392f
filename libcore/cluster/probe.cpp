#include "libcore/cluster/probe.hpp"

#include "libcore/base/text.hpp"
#include "libcore/cluster/limited_run_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace gpkg {
namespace {

/// A probe that was begun has this long to look and to answer.
constexpr std::chrono::seconds kToAnswer{60};
constexpr int kNotFound = 127;  // a shell's exit status
constexpr int kNotRun = 126;

/// The marks are YAML's for the beginning and the end of a document.
std::string probe_script(const fs::path& gpkg) {
    return fmt::format(
        "unset CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES "
        "HIP_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ZE_AFFINITY_MASK\n"
        "profile=$({} hardware export); status=$?\n"
        // One that lacks something comes with status 1.
        "[ -n \"$profile\" ] || [ $status = 0 ] || exit $status\n"
        "printf -- '---\\n%s\\n...\\n' \"$profile\"\n",
        shell_word(gpkg.native()));
}

std::string gres_of(const NodeKind& kind) {
    std::string gres;
    for (const auto& gpu : kind.first().gpus)
        gres += fmt::format(
            "{}gpu{}{}:1", gres.empty() ? "" : ",", gpu.type.empty() ? "" : ":", gpu.type);
    return gres;
}

/// Those that start jobs there, if any do.
const std::vector<std::string>& partitions_of(const NodeKind& kind) {
    const auto& node = kind.first();
    return node.open.empty() ? node.partitions : node.open;
}

std::vector<std::string> command_in(const std::string& partition,
                                    const NodeKind& kind,
                                    const ProbeOptions& options) {
    std::vector<std::string> command = {"srun",
                                        "--job-name=gpkg-hardware",
                                        "--partition=" + partition,
                                        "--nodelist=" + kind.first().name,
                                        "--nodes=1",
                                        "--ntasks=1",
                                        "--cpus-per-task=1",
                                        "--mem=256M",
                                        "--time=2",
                                        fmt::format("--immediate={}", options.wait.count()),
                                        "--mpi=none",
                                        "--chdir=/"};
    if (const auto gres = gres_of(kind); !gres.empty()) command.push_back("--gres=" + gres);
    command.insert(command.end(), options.words.begin(), options.words.end());
    return command;
}

/// Whether the partition will not have the job, on whatever node and however long it waits.
bool is_refused(const SlurmAnswer& answer) {
    return answer.exit_code != 0 &&
           answer.errors.find("Unable to allocate resources") != std::string::npos &&
           answer.errors.find("busy") == std::string::npos;
}

/// `where` and why there is no profile from there.
tl::unexpected<Error> no_profile(const std::string& where,
                                 const fs::path& gpkg,
                                 int exit_code,
                                 const std::string& said) {
    if (exit_code == kNotFound || exit_code == kNotRun)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: cannot run {}: {}", where, gpkg.native(), last_lines(said, 1)),
                    "give the path of gpkg on these machines with --gpkg PATH");
    return fail(ErrorKind::Network,
                said.empty() ? fmt::format("{}: failed with exit status {}", where, exit_code)
                             : fmt::format("{}: {}", where, last_lines(said, 2)));
}

/// What the script said on `where`.
Result<ProbeAnswer> answer_of(const std::string& where,
                              const ProbeOptions& options,
                              SlurmAnswer answer) {
    if (answer.exit_code != 0)
        return no_profile(where, options.gpkg, answer.exit_code, answer.errors);
    auto profile = profile_in(answer.output);
    if (!profile) return pass(std::move(profile).error().while_doing("probing " + where));
    return ProbeAnswer{*std::move(profile), std::move(answer.errors)};
}

}  // namespace

Result<std::string> profile_in(std::string_view output) {
    constexpr std::string_view kBegin = "---\n";
    constexpr std::string_view kEnd = "\n...\n";
    auto begin = output.starts_with(kBegin) ? 0 : output.find("\n---\n");
    if (begin != std::string_view::npos) {
        if (begin > 0) ++begin;
        begin += kBegin.size();
        if (const auto end = output.find(kEnd, begin); end != std::string_view::npos)
            return std::string(output.substr(begin, end + 1 - begin));
    }
    return fail(
        ErrorKind::Parse,
        fmt::format("no hardware profile in the output: {}", printable(last_lines(output, 3))));
}

std::vector<std::string> probe_command(const NodeKind& kind, const ProbeOptions& options) {
    return command_in(partitions_of(kind).front(), kind, options);
}

Result<ProbeAnswer> probe_by_slurm(const NodeKind& kind, const ProbeOptions& options) {
    const auto& node = kind.first();
    if (node.readiness == NodeReadiness::Unusable)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: down or drained, like all nodes of its kind", node.name));
    SlurmCommand srun;
    srun.own_allocation = true;
    srun.limit = options.wait + kToAnswer;
    srun.cancelled = options.cancelled;
    Result<SlurmAnswer> answer;
    for (const auto& partition : partitions_of(kind)) {
        srun.arguments = command_in(partition, kind, options);
        for (const auto* word : {"/bin/sh", "-c"}) srun.arguments.emplace_back(word);
        srun.arguments.push_back(probe_script(options.gpkg));
        answer = ask_slurm(srun);
        if (!answer || !is_refused(*answer)) break;
    }
    if (!answer) return pass(std::move(answer).error().while_doing("probing " + node.name));
    return answer_of(node.name, options, *std::move(answer));
}

Result<ProbeAnswer> probe_by_ssh(const std::string& host, const ProbeOptions& options) {
    ProcessCommand ssh;
    ssh.arguments = {"ssh",
                     "-o",
                     "BatchMode=yes",
                     "-o",
                     "LogLevel=ERROR",
                     "-o",
                     fmt::format("ConnectTimeout={}", options.wait.count())};
    ssh.arguments.insert(ssh.arguments.end(), options.words.begin(), options.words.end());
    // Whatever the login's shell is, sh reads the script.
    for (const auto& word : {std::string("--"), host, std::string("sh -s")})
        ssh.arguments.push_back(word);
    ssh.environment = current_environment();
    const auto script = probe_script(options.gpkg);
    ssh.feed = [&](int end) { static_cast<void>(write_fully(end, script)); };
    auto answer = run_limited(std::move(ssh), options.wait + kToAnswer, options.cancelled);
    if (!answer) return pass(std::move(answer).error().while_doing("probing " + host));
    std::erase(answer->errors, '\r');  // ssh's own lines end as a terminal's
    return answer_of(host, options, *std::move(answer));
}

}  // namespace gpkg
