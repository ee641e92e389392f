#include "libcore/cluster/slurm_command.hpp"

#include "libcore/process/process.hpp"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <string_view>

namespace gpkg {
namespace {

using Clock = std::chrono::steady_clock;

/// How long srun may take to give an allocation back.
constexpr std::chrono::seconds kGrace{10};

/// Variables that change the form of an answer, or what is asked.
bool is_taste(std::string_view name) {
    constexpr std::array<std::string_view, 4> kPrefixes = {
        "SINFO_", "SQUEUE_", "SCONTROL_", "SLURM_TIME_FORMAT"};
    for (const auto prefix : kPrefixes) {
        if (name.starts_with(prefix)) return true;
    }
    return false;
}

/// Variables of the job that this process belongs to: srun would start a step of it.
bool is_of_the_job(std::string_view name) {
    return name.starts_with("SLURM_") && name != "SLURM_CONF" && name != "SLURM_CLUSTERS";
}

std::map<std::string, std::string> environment_for(const SlurmCommand& command) {
    auto variables = current_environment();
    const bool leaves_job = command.own_allocation && in_slurm_job();
    std::erase_if(variables, [&](const auto& variable) {
        return is_taste(variable.first) || (leaves_job && is_of_the_job(variable.first));
    });
    return variables;
}

}  // namespace

bool in_slurm_job() { return std::getenv("SLURM_JOB_ID") != nullptr; }

Result<SlurmAnswer> ask_slurm(const SlurmCommand& command) {
    const auto& program = command.arguments.front();
    if (find_program(program).empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: there is no such program on PATH", program),
                    "on a machine of a Slurm cluster its programs may first have to be loaded: "
                    "module load slurm");
    SlurmAnswer answer;
    ProcessCommand process;
    process.arguments = command.arguments;
    process.environment = environment_for(command);
    process.input = command.input;
    process.output = [&](std::string_view piece) { answer.output += piece; };
    process.errors = [&](std::string_view piece) { answer.errors += piece; };
    process.grace = kGrace;
    const auto until = Clock::now() + command.limit;
    bool is_late = false;
    process.cancelled = [&] {
        is_late = Clock::now() > until;
        return is_late || (command.cancelled && command.cancelled());
    };
    auto code = run_command(process);
    if (!code && is_late)
        return fail(
            ErrorKind::Network,
            fmt::format(
                "{}: did not end within {} s{}",
                program,
                command.limit.count(),
                answer.errors.empty() ? "" : ", and said: " + last_lines(answer.errors, 1)));
    if (!code) return pass(std::move(code).error());
    answer.exit_code = *code;
    return answer;
}

Result<std::string> slurm_output(const SlurmCommand& command) {
    GPKG_TRY(auto answer, ask_slurm(command));
    if (answer.exit_code == 0) return std::move(answer.output);
    const auto said = last_lines(answer.errors.empty() ? answer.output : answer.errors, 3);
    if (said.starts_with(command.arguments.front() + ": ")) return fail(ErrorKind::Io, said);
    return fail(ErrorKind::Io,
                fmt::format("{}: {}",
                            command.arguments.front(),
                            said.empty() ? fmt::format("exit status {}", answer.exit_code) : said));
}

}  // namespace gpkg
