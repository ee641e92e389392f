#include "libcore/cluster/slurm_command.hpp"

#include "libcore/cluster/limited_run_internal.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

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
                    fmt::format("{}: not found on PATH", program),
                    "on a Slurm cluster, try: module load slurm");
    ProcessCommand process;
    process.arguments = command.arguments;
    process.environment = environment_for(command);
    process.input = command.input;
    return run_limited(std::move(process), command.limit, command.cancelled);
}

Result<SlurmAnswer> run_limited(ProcessCommand command,
                                std::chrono::seconds limit,
                                const std::function<bool()>& cancelled) {
    constexpr std::size_t kMost = std::size_t{64} << 20U;
    SlurmAnswer answer;
    bool is_endless = false;
    const auto keep = [&](std::string& text, std::string_view piece) {
        is_endless = is_endless || text.size() > kMost;
        if (!is_endless) text += piece;
    };
    command.output = [&](std::string_view piece) { keep(answer.output, piece); };
    command.errors = [&](std::string_view piece) { keep(answer.errors, piece); };
    command.grace = kGrace;
    const auto until = Clock::now() + limit;
    bool is_late = false;
    command.cancelled = [&] {
        is_late = Clock::now() > until;
        return is_late || is_endless || (cancelled && cancelled());
    };
    auto code = run_command(command);
    if (!code && is_endless)
        return fail(
            ErrorKind::Network,
            fmt::format(
                "{}: stopped after {} MB of output", command.arguments.front(), kMost >> 20U));
    if (!code && is_late)
        return fail(
            ErrorKind::Network,
            fmt::format(
                "{}: did not finish within {} s{}",
                command.arguments.front(),
                limit.count(),
                answer.errors.empty() ? "" : "; last output: " + last_lines(answer.errors, 1)));
    if (!code) return pass(std::move(code).error());
    answer.exit_code = *code;
    return answer;
}

Error refusal(const SlurmCommand& command, const SlurmAnswer& answer) {
    const auto& program = command.arguments.front();
    auto said = last_lines(answer.errors.empty() ? answer.output : answer.errors, 3);
    if (said.empty()) said = fmt::format("exit status {}", answer.exit_code);
    const bool names_itself = said.starts_with(program + ": ");
    return {ErrorKind::Io, names_itself ? said : fmt::format("{}: {}", program, said), {}, {}};
}

Result<std::string> slurm_output(const SlurmCommand& command) {
    GPKG_TRY(auto answer, ask_slurm(command));
    if (answer.exit_code != 0) return pass(refusal(command, answer));
    return std::move(answer.output);
}

Result<std::string> slurm_state(const SlurmCommand& command) {
    auto text = slurm_output(command);
    if (text || text.error().kind != ErrorKind::Io) return text;
    // The lines before the last one tell what the program tried.
    auto& message = text.error().message;
    message = last_lines(message, 1);
    const auto name = command.arguments.front() + ": ";
    if (!message.starts_with(name)) message.insert(0, name);
    return pass(std::move(text).error().while_doing("Slurm does not answer"));
}

bool has_ended(std::string_view state) {
    constexpr std::array<std::string_view, 9> kEnded = {"COMPLETED",
                                                        "FAILED",
                                                        "CANCELLED",
                                                        "TIMEOUT",
                                                        "NODE_FAIL",
                                                        "OUT_OF_MEMORY",
                                                        "BOOT_FAIL",
                                                        "PREEMPTED",
                                                        "DEADLINE"};
    return std::ranges::find(kEnded, state) != kEnded.end();
}

}  // namespace gpkg
