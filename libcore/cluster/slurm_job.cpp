#include "libcore/cluster/slurm_job.hpp"

#include "libcore/base/text.hpp"
#include "libcore/cluster/slurm_command.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace gpkg {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

bool is_number(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<SlurmJob> this_job(std::function<bool()> cancelled) {
    SlurmJob job{variable("SLURM_JOB_ID"), {}, std::move(cancelled)};
    if (!is_number(job.id)) return fail(ErrorKind::NotFound, "not inside a Slurm job");
    if (!variable("SLURM_HET_SIZE").empty())
        return fail(
            ErrorKind::Unsupported,
            fmt::format("job {} is heterogeneous; gpkg deploy needs a job with one component",
                        job.id));
    SlurmCommand scontrol;
    scontrol.arguments = {"scontrol", "show", "hostnames", variable("SLURM_JOB_NODELIST")};
    scontrol.cancelled = job.cancelled;
    GPKG_TRY(const auto output, slurm_output(scontrol));
    for (const auto line : split(trim(output), '\n')) {
        if (!trim(line).empty()) job.nodes.emplace_back(trim(line));
    }
    if (job.nodes.empty())
        return fail(ErrorKind::NotFound, fmt::format("job {} has no nodes", job.id));
    return job;
}

Result<std::set<std::string>> living_jobs(const std::set<std::string>& jobs,
                                          const std::function<bool()>& cancelled) {
    SlurmCommand squeue;
    squeue.arguments = {"squeue",
                        "--noheader",
                        "--states=all",
                        fmt::format("--user={}", ::getuid()),
                        "--format=%A %T"};
    squeue.cancelled = cancelled;
    GPKG_TRY(const auto output, slurm_output(squeue));
    std::set<std::string> living;
    for (const auto line : split(output, '\n')) {
        const auto words = split(trim(line), ' ');
        if (words.size() == 2 && !has_ended(words[1]) && jobs.contains(std::string(words[0])))
            living.emplace(words[0]);
    }
    return living;
}

}  // namespace gpkg
