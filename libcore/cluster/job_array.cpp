#include "libcore/cluster/job_array.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace gpkg {
namespace {

/// In names of log files Slurm takes % for the beginning of a pattern.
std::string without_patterns(const fs::path& path) {
    std::string text;
    for (const char each : path.native()) text += each == '%' ? "%%" : std::string(1, each);
    return text;
}

/// Of "Key=value" among what scontrol prints.
std::string_view value_in(std::string_view text, std::string_view key) {
    for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; ++at) {
        const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
        if (!begins || text.substr(at + key.size(), 1) != "=") continue;
        const auto value = text.substr(at + key.size() + 1);
        return value.substr(0, value.find_first_of(" \n"));
    }
    return {};
}

std::string known(std::string_view value) {
    const bool says_nothing = value == "(null)" || value == "None" || value == "n/a";
    return says_nothing ? std::string() : std::string(value);
}

SlurmCommand question(std::vector<std::string> words, const std::function<bool()>& cancelled) {
    SlurmCommand command;
    command.arguments = std::move(words);
    command.cancelled = cancelled;
    return command;
}

/// Slurm's words for a job that it does not know, or no longer, and for a task that it has no
/// record of its own of.
bool is_unknown_job(const SlurmAnswer& answer) {
    return answer.errors.find("Invalid job id") != std::string::npos ||
           answer.output.find(" not found") != std::string::npos;
}

/// Whether "0-3,7,9-12%4" has the number.
bool lists(std::string_view numbers, std::size_t wanted) {
    for (const auto part : split(numbers.substr(0, numbers.find('%')), ',')) {
        const auto dash = part.find('-');
        const auto first = whole_number<std::size_t>(part.substr(0, dash));
        const auto last = dash == std::string_view::npos
                              ? first
                              : whole_number<std::size_t>(part.substr(dash + 1));
        if (first && last && *first <= wanted && wanted <= *last) return true;
    }
    return false;
}

}  // namespace

std::vector<std::string> sbatch_command(const ArrayRequest& request) {
    auto array = fmt::format("--array=0-{}", request.count - 1);
    if (request.at_a_time > 0) array += fmt::format("%{}", request.at_a_time);
    // The environment is the build's (SOURCE_DATE_EPOCH), whatever a site's SBATCH_EXPORT says.
    std::vector<std::string> command{"sbatch", "--parsable", "--export=ALL"};
    command.insert(command.end(), request.words.begin(), request.words.end());
    command.insert(command.end(),
                   {array,
                    "--job-name=" + request.name,
                    "--chdir=" + request.folder.native(),
                    "--output=" + without_patterns(request.logs) + "/%a.log",
                    "--error=" + without_patterns(request.logs) + "/%a.log",
                    request.script.native()});
    return command;
}

Result<std::string> submit_array(const ArrayRequest& request) {
    // One of these, and sbatch replaces no pattern in the name of a log.
    if (request.logs.native().find('\\') != std::string::npos)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: Slurm cannot write logs below a path with a backslash",
                                request.logs.native()));
    SlurmCommand command;
    command.arguments = sbatch_command(request);
    command.own_allocation = true;
    GPKG_TRY(const auto said, slurm_output(command));
    // "17", or "17;cluster"; what a site's plug-in says stands on lines before it.
    const auto text = trim(said);
    const auto line = text.substr(text.rfind('\n') + 1);
    const auto job = line.substr(0, line.find(';'));
    if (!whole_number<std::uint64_t>(job))
        return fail(ErrorKind::Parse, fmt::format("sbatch: no job ID in its output: {}", text));
    return std::string(job);
}

Result<std::optional<std::string>> find_array(const std::string& name,
                                              const std::function<bool()>& cancelled) {
    GPKG_TRY(const auto text,
             slurm_state(question({"squeue",
                                   "--noheader",
                                   fmt::format("--user={}", ::getuid()),
                                   "--name=" + name,
                                   "--format=%F"},
                                  cancelled)));
    const auto job = split(trim(text), '\n').front();
    return job.empty() ? std::nullopt : std::optional<std::string>(trim(job));
}

Result<std::size_t> largest_array(const std::function<bool()>& cancelled) {
    GPKG_TRY(const auto text, slurm_state(question({"scontrol", "show", "config"}, cancelled)));
    for (const auto line : split(text, '\n')) {
        const auto mark = line.find('=');
        if (mark == std::string_view::npos || trim(line.substr(0, mark)) != "MaxArraySize")
            continue;
        if (const auto size = whole_number<std::size_t>(trim(line.substr(mark + 1)))) {
            if (*size > 0) return *size;
            return fail(ErrorKind::Unsupported,
                        "this Slurm does not allow job arrays (MaxArraySize=0)");
        }
    }
    constexpr std::size_t kUsual = 1001;
    return kUsual;
}

QueuedTasks parse_queue(std::string_view text) {
    QueuedTasks tasks;
    for (const auto line : split(text, '\n')) {
        const auto fields = split(line, '|');
        if (fields.size() != 5) continue;
        const auto index = whole_number<std::size_t>(trim(fields[1]));
        const auto state = trim(fields[2]);
        if (!index || has_ended(state)) continue;
        tasks[{std::string(trim(fields[0])), *index}] = {
            std::string(state), known(trim(fields[3])), known(trim(fields[4]))};
    }
    return tasks;
}

Result<QueuedTasks> queued_tasks(const std::vector<std::string>& jobs,
                                 const std::function<bool()>& cancelled) {
    if (jobs.empty()) return QueuedTasks();
    const auto squeue = question({"squeue",
                                  "--noheader",
                                  "--array",
                                  fmt::format("--jobs={}", fmt::join(jobs, ",")),
                                  "--format=%F|%K|%T|%N|%r"},
                                 cancelled);
    GPKG_TRY(const auto answer, ask_slurm(squeue));
    if (answer.exit_code != 0 && is_unknown_job(answer)) return QueuedTasks();
    if (answer.exit_code != 0) return pass(refusal(squeue, answer));
    return parse_queue(answer.output);
}

std::optional<EndedTask> parse_ended(std::string_view text) {
    EndedTask task;
    task.state = value_in(text, "JobState");
    if (!has_ended(task.state)) return std::nullopt;
    task.reason = known(value_in(text, "Reason"));
    task.node = known(value_in(text, "BatchHost"));
    if (task.node.empty()) task.node = known(value_in(text, "NodeList"));
    task.time_limit = known(value_in(text, "TimeLimit"));
    const auto code = value_in(text, "ExitCode");
    task.exit_code = whole_number<int>(code.substr(0, code.find(':'))).value_or(0);
    if (const auto mark = code.find(':'); mark != std::string_view::npos)
        task.signal = whole_number<int>(code.substr(mark + 1)).value_or(0);
    return task;
}

std::optional<EndedTask> parse_ended_in(std::string_view records, std::size_t index) {
    bool has_any = false;
    for (std::size_t at = 0; at != std::string_view::npos;) {
        const auto end = records.find("\n\n", at);
        const auto record = records.substr(at, end - at);
        const auto tasks = value_in(record, "ArrayTaskId");
        if (lists(tasks, index)) return parse_ended(record);
        has_any = has_any || !tasks.empty();
        at = end == std::string_view::npos ? end : end + 2;
    }
    if (!has_any) return std::nullopt;
    EndedTask task;
    task.state = "CANCELLED";
    return task;
}

Result<std::optional<EndedTask>> ended_task(const std::string& job,
                                            std::size_t index,
                                            const std::function<bool()>& cancelled) {
    const auto scontrol =
        question({"scontrol", "show", "job", fmt::format("{}_{}", job, index)}, cancelled);
    GPKG_TRY(const auto answer, ask_slurm(scontrol));
    if (answer.exit_code == 0) return parse_ended(answer.output);
    if (!is_unknown_job(answer)) return pass(refusal(scontrol, answer));
    // Tasks that were cancelled while they waited have one record together.
    const auto of_job = question({"scontrol", "show", "job", job}, cancelled);
    GPKG_TRY(const auto all, ask_slurm(of_job));
    if (all.exit_code != 0 && !is_unknown_job(all)) return pass(refusal(of_job, all));
    return all.exit_code == 0 ? parse_ended_in(all.output, index) : std::nullopt;
}

Result<void> cancel_tasks(const std::string& job, const std::vector<std::size_t>& indexes) {
    auto what = job;
    if (!indexes.empty()) what += fmt::format("_[{}]", fmt::join(indexes, ","));
    GPKG_CHECK(slurm_output(question({"scancel", what}, {})));
    return {};
}

}  // namespace gpkg
