#include "cli/workflow/delivery/deploying.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/own_program.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The line for sbatch that chooses the partition of --for partition=gpu or partition=gpu:a100; a
/// comment for any other machine.
std::string partition_line(std::string_view machine) {
    constexpr std::string_view kPartition = "partition=";
    if (!machine.starts_with(kPartition)) return "##SBATCH --partition=NAME\n";
    const auto name = machine.substr(kPartition.size());
    return fmt::format("#SBATCH --partition={}\n", name.substr(0, name.find_first_of(":, ")));
}

void tell_placement(Context& context, const Placement& placement) {
    if (!placement.cleaned.empty())
        context.out.note(fmt::format("removed leftovers of ended jobs: {}",
                                     join_some(placement.cleaned, "and")));
    if (placement.in_memory)
        context.out.note(
            fmt::format("{}: in memory (tmpfs) and counts as memory of the job; choose another "
                        "folder with --to",
                        placement.folder.native()));
}

/// An image that cannot be mounted is unpacked by every command anew.
void tell_mounts(Context& context, const Deployed& done) {
    for (const auto& [type, nodes] : done.mounted) {
        if (type.empty() || type == "squashfs" || type.starts_with("fuse")) continue;
        context.out.warn(fmt::format(
            "{}: cannot mount the image, so every command unpacks it; use --format pack "
            "to unpack it once",
            join_some(nodes, "and")));
    }
}

}  // namespace

std::vector<fs::path> local_folders(const Context& context, const std::vector<std::string>& named) {
    std::vector<fs::path> folders;
    const auto add = [&](fs::path folder) {
        if (std::find(folders.begin(), folders.end(), folder) == folders.end())
            folders.push_back(std::move(folder));
    };
    for (const auto& folder : named) add(absolute_path(folder, context.home));
    if (!folders.empty()) return folders;
    for (const auto& folder : context.config.local_folders.value) add(folder);
    if (!folders.empty()) return folders;
    // Sites give a job's TMPDIR a disk, or set it for login nodes only: nodes tell.
    if (const auto temporary = context.env("TMPDIR"); temporary && temporary->starts_with('/'))
        add(fs::path(*temporary).lexically_normal());
    add("/tmp");
    return folders;
}

Result<Deployment> deploy_to_job(Context& context, const DeployRequest& request) {
    GPKG_TRY(const auto job, this_job([&] { return context.stop.stop_requested(); }));
    Deployment deployment;
    deployment.nodes = job.nodes;
    auto begin = Clock::now();
    GPKG_TRY(deployment.payload, payload_of(context, request.what));
    deployment.file_seconds = seconds_since(begin);
    GPKG_CHECK(check_stop(context));
    begin = Clock::now();
    GPKG_TRY(deployment.placement,
             find_place(job, deployment.payload, local_folders(context, request.folders)));
    deployment.place_seconds = seconds_since(begin);
    tell_placement(context, deployment.placement);
    DeployOptions how;
    how.method = request.method;
    GPKG_TRY(how.gpkg, own_program());
    how.note = [&](const std::string& text) { context.out.note(text); };
    GPKG_TRY(deployment.done, deploy(job, deployment.payload, deployment.placement, how));
    tell_mounts(context, deployment.done);
    return deployment;
}

Result<bool> clean_job(Context& context, const std::vector<std::string>& folders) {
    GPKG_TRY(const auto job, this_job([&] { return context.stop.stop_requested(); }));
    GPKG_TRY(const auto removed, remove_deployed(job, local_folders(context, folders)));
    for (const auto& path : removed) context.out.note(fmt::format("{}: removed", path));
    return !removed.empty();
}

Result<std::string> start_words(const std::string& place,
                                bool is_pack,
                                const std::string& command) {
    GPKG_TRY(const auto gpkg, own_program());
    return fmt::format("srun {} {} {} -- {}",
                       shell_word(gpkg.native()),
                       is_pack ? "run -p" : "image run",
                       place,
                       command);
}

Result<std::string> batch_script(Context& context,
                                 const DeployRequest& request,
                                 const std::vector<std::string>& command) {
    GPKG_TRY(const auto payload, payload_of(context, request.what));
    GPKG_TRY(const auto gpkg, own_program());
    std::string to;
    for (const auto& folder : request.folders) to += " --to " + shell_word(folder);
    const auto clean = fmt::format("{} deploy --clean --quiet{}", shell_word(gpkg.native()), to);
    const auto way = request.method == CopyMethod::Auto
                         ? std::string()
                         : fmt::format(" --copy {}", name_of(request.method));
    GPKG_TRY(const auto start,
             start_words(
                 "\"$env\"", payload.is_pack, command.empty() ? "COMMAND" : shell_words(command)));
    return fmt::format(
        "#!/bin/bash\n"
        "# Written by gpkg deploy --slurm: copies an environment to the local disk of every node "
        "and runs\n"
        "# a command in it. Give the resources of the job here, in lines that begin with #SBATCH, "
        "or "
        "to\n"
        "# sbatch: sbatch -N 100 --ntasks-per-node=8 --time=1:00:00 THIS-FILE\n"
        "{7}"
        "##SBATCH --nodes=2\n"
        "##SBATCH --time=1:00:00\n"
        "\n"
        "env=$({0} deploy {1}{2}{6}) || exit\n"
        "# If the job is killed, the site's epilog (gpkg deploy --epilog) or your next deployment "
        "removes\n"
        "# the copies.\n"
        "trap {5} EXIT\n"
        "trap 'exit 143' TERM\n"
        "\n"
        "{3}{4}\n",
        shell_word(gpkg.native()),
        shell_word(payload.file.native()),
        to,
        command.empty() ? "# " : "",
        start,
        shell_word(clean),
        way,
        partition_line(request.what.of.sources.for_machine));
}

}  // namespace gpkg::cli
