#include "cli/workflow/build/slurm_jobs.hpp"

#include "cli/options.hpp"
#include "cli/workflow/build/slurm_failures.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/own_program.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>

namespace gpkg::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstPause = 200ms;
constexpr auto kLongestPause = 10s;
/// An answer that was written on another machine may be seen that much later (NFS).
constexpr auto kAnswerLag = 60s;

}  // namespace

SlurmJobs::SlurmJobs(Context& context, const BuildRequest& request, fs::path work)
    : context_(context),
      request_(request),
      work_(std::move(work)),
      cancelled_([&context] { return context.stop.stop_requested(); }) {}

std::string SlurmJobs::job(Id id) const {
    return fmt::format("{}_{}", arrays_[id.array].job(), id.index);
}

Result<QueuedTasks> SlurmJobs::queue_of(const std::set<std::size_t>& arrays) const {
    std::vector<std::string> jobs;
    for (const auto array : arrays) {
        if (!arrays_[array].job().empty()) jobs.push_back(arrays_[array].job());
    }
    return queued_tasks(jobs, cancelled_);
}

Result<std::vector<SlurmJobs::Ended>> SlurmJobs::recover() {
    GPKG_TRY(arrays_, TaskArray::left_in(work_));
    std::set<std::size_t> all;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        all.insert(i);
        if (!arrays_[i].job().empty()) continue;
        // The run before ended while it submitted this one.
        GPKG_TRY(const auto job, find_array(arrays_[i].name(), cancelled_));
        if (job) GPKG_CHECK(arrays_[i].remember_job(*job));
    }
    auto queue = queue_of(all);
    if (!queue)
        return pass(
            std::move(queue).error().while_doing("querying Slurm for builds of an earlier run"));
    std::vector<Ended> ended;
    for (const auto array : all) {
        for (const auto index : arrays_[array].open()) {
            const Id id{array, index};
            GPKG_TRY(auto answer, read_answer(folder(id)));
            const auto task = queue->find({arrays_[array].job(), index});
            const bool is_there = task != queue->end() && !(task->second.is_ending() && answer);
            if (is_there) {
                GPKG_TRY(left_[id], read_order(folder(id)));
            } else {
                ended.push_back({id, std::move(answer), std::nullopt});
            }
        }
    }
    return ended;
}

void SlurmJobs::adopt(Id id) {
    left_.erase(id);
    live_.insert(id);
}

Result<void> SlurmJobs::drop(const std::set<Id>& ids) {
    std::map<std::size_t, std::vector<std::size_t>> by_array;
    for (const auto& id : ids) by_array[id.array].push_back(id.index);
    std::set<std::size_t> arrays;
    for (const auto& [array, indexes] : by_array) {
        arrays.insert(array);
        GPKG_CHECK(cancel_tasks(arrays_[array].job(), indexes));
    }
    const auto is_there = [&](const QueuedTasks& queue) {
        return std::any_of(ids.begin(), ids.end(), [&](const auto& id) {
            return queue.contains({arrays_[id.array].job(), id.index});
        });
    };
    for (;; std::this_thread::sleep_for(kFirstPause)) {
        GPKG_TRY(const auto queue, queue_of(arrays));
        if (!is_there(queue)) break;
    }
    for (const auto& id : ids) {
        left_.erase(id);
        GPKG_CHECK(forget(id));
    }
    return {};
}

Result<ArrayRequest> SlurmJobs::array_request(const Context& context,
                                              const BuildRequest& request,
                                              std::size_t count) {
    ArrayRequest array;
    array.count = count;
    array.at_a_time = static_cast<std::size_t>(std::max(0, request.jobs));
    array.folder = absolute_path(".", context.home);
    for (const auto& text : request.slurm_options) {
        GPKG_TRY(const auto words, words_of_option(text, "--slurm-options"));
        for (const auto& word : words) {
            if (word == "-W" || word == "--wait" || word == "-a" || word.starts_with("--array"))
                return fail(
                    ErrorKind::Usage,
                    fmt::format("--slurm-options: {} is set by gpkg and cannot be changed", word));
            array.words.emplace_back(word);
        }
    }
    return array;
}

Result<void> SlurmJobs::write_script(const TaskArray& array) const {
    GPKG_TRY(const auto program, own_program());
    const auto gpkg = shell_word(program.native());
    std::string words;
    // The words of the user, which say all that is not in the order; first what makes it a task.
    for (std::size_t i = 1; i < context_.arguments.size(); ++i) {
        words += " " + shell_word(context_.arguments[i]);
        if (i == 1) words += " --slurm-task \"$task\"";
    }
    const auto text = fmt::format(
        "#!/bin/sh\n"
        "task={}/$SLURM_ARRAY_TASK_ID\n"
        "[ -d \"$task\" ] || {{ echo \"$task does not exist on this machine\"; exit {}; }}\n"
        "[ -x {} ] || {{ echo {} does not exist on this machine; exit {}; }}\n"
        "exec {}{}\n",
        shell_word(array.folder().native()),
        kSeesNoFolder,
        gpkg,
        gpkg,
        kHasNoGpkg,
        gpkg,
        words);
    const auto file = array.folder() / "script.sh";
    GPKG_CHECK(write_file_atomically(file, ""));
    // Channels may come with passwords.
    std::error_code code;
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, code);
    return write_file_atomically(file, text);
}

Result<std::vector<SlurmJobs::Id>> SlurmJobs::submit(const std::vector<TaskOrder>& orders) {
    std::vector<Id> ids;
    if (orders.empty()) return ids;
    if (largest_ == 0) {
        GPKG_TRY(largest_, largest_array(cancelled_));
    }
    for (std::size_t at = 0; at < orders.size(); at += largest_) {
        GPKG_CHECK(check_stop(context_));
        const auto end = std::min(orders.size(), at + largest_);
        const auto first = orders.begin();
        GPKG_CHECK(submit_some(
            {first + static_cast<std::ptrdiff_t>(at), first + static_cast<std::ptrdiff_t>(end)},
            ids));
    }
    return ids;
}

Result<void> SlurmJobs::submit_some(const std::vector<TaskOrder>& orders, std::vector<Id>& ids) {
    GPKG_TRY(auto request, array_request(context_, request_, orders.size()));
    GPKG_TRY(auto array, TaskArray::make(work_, orders));
    GPKG_CHECK(write_script(array));
    request.name = array.name();
    request.script = array.folder() / "script.sh";
    request.logs = array.folder();
    auto job = submit_array(request);
    if (!job) {
        for (const auto index : array.open()) GPKG_CHECK(array.forget(index));
        return pass(std::move(job).error().while_doing("submitting to Slurm"));
    }
    GPKG_CHECK(array.remember_job(*job));
    const auto number = arrays_.size();
    arrays_.push_back(std::move(array));
    for (std::size_t i = 0; i < orders.size(); ++i) {
        ids.push_back({number, i});
        live_.insert(ids.back());
    }
    context_.out.note(fmt::format(
        "job {}: {} build{} submitted", *job, orders.size(), orders.size() == 1 ? "" : "s"));
    return {};
}

Result<void> SlurmJobs::pause(Clock::duration time) const {
    const auto until = Clock::now() + time;
    while (Clock::now() < until) {
        GPKG_CHECK(check_stop(context_));
        std::this_thread::sleep_for(50ms);
    }
    return check_stop(context_);
}

Result<std::vector<SlurmJobs::Ended>> SlurmJobs::next() {
    Clock::duration wait = kFirstPause;
    for (;;) {
        GPKG_CHECK(pause(wait));
        wait = std::min<Clock::duration>(wait * 5 / 4, kLongestPause);
        auto ended = look();
        if (ended && !ended->empty()) return ended;
        if (ended) {
            is_silence_told_ = false;
            continue;
        }
        // A controller may be away for a while; what it runs goes on.
        if (ended.error().kind == ErrorKind::Interrupted) return ended;
        if (!is_silence_told_)
            context_.out.warn(
                fmt::format("Slurm does not answer, retrying: {}", ended.error().message));
        is_silence_told_ = true;
    }
}

Result<std::vector<SlurmJobs::Ended>> SlurmJobs::look() {
    std::set<std::size_t> arrays;
    for (const auto& id : live_) arrays.insert(id.array);
    GPKG_TRY(const auto queue, queue_of(arrays));
    std::vector<Ended> ended;
    for (const auto& id : live_) {
        auto one = look_at(id, queue);
        // What was seen to end counts, whatever is wrong with the question for others.
        if (!one && ended.empty()) return pass(std::move(one).error());
        if (one && *one) ended.push_back(**std::move(one));
    }
    for (const auto& one : ended) live_.erase(one.id);
    return ended;
}

Result<std::optional<SlurmJobs::Ended>> SlurmJobs::look_at(Id id, const QueuedTasks& queue) {
    const auto task = queue.find({arrays_[id.array].job(), id.index});
    const bool is_there = task != queue.end();
    if (is_there && !task->second.is_ending()) {
        tell_held(id, task->second);
        return std::nullopt;
    }
    GPKG_TRY(auto answer, read_answer(folder(id)));
    if (answer && answer->is_success()) return Ended{id, std::move(answer), std::nullopt};
    if (is_there) return std::nullopt;
    GPKG_TRY(auto told, ended_task(arrays_[id.array].job(), id.index, cancelled_));
    // One that ended by itself has answered, as a rule.
    const bool may_answer = !told || (told->signal == 0 && told->exit_code <= 1 &&
                                      (told->state == "COMPLETED" || told->state == "FAILED"));
    if (!answer && may_answer) {
        const auto since = missing_.emplace(id, Clock::now()).first->second;
        if (Clock::now() - since < kAnswerLag) return std::nullopt;
    }
    return Ended{id, std::move(answer), std::move(told)};
}

void SlurmJobs::tell_held(Id id, const QueuedTask& task) {
    if (!task.is_waiting() || !task.is_held()) return;
    const auto& job = arrays_[id.array].job();
    context_.out.warn_once(
        fmt::format("job {}: builds are held ({}); use scontrol release {} to continue, or scancel "
                    "{} to cancel",
                    job,
                    task.reason,
                    job,
                    job));
}

std::string SlurmJobs::jobs_of_live() const {
    std::set<std::string> jobs;
    for (const auto& id : live_) jobs.insert(arrays_[id.array].job());
    return fmt::format("{}", fmt::join(jobs, " "));
}

Error SlurmJobs::ended_early(Error error) {
    if (live_.empty()) return error;
    const auto jobs = jobs_of_live();
    if (error.kind == ErrorKind::Interrupted && stop_signal() == SIGINT) {
        std::map<std::size_t, std::vector<std::size_t>> by_array;
        for (const auto& id : live_) by_array[id.array].push_back(id.index);
        for (const auto& [array, indexes] : by_array) {
            const auto done = cancel_tasks(arrays_[array].job(), indexes);
            if (done) continue;
            error.hint = fmt::format(
                "the submitted builds could not be cancelled ({}); cancel them with scancel {}",
                done.error().message,
                jobs);
            return error;
        }
        error.hint = fmt::format("the submitted builds were cancelled (job {})", jobs);
        return error;
    }
    error.hint += fmt::format(
        "{}the submitted builds continue (job {}); run the same command to wait for them, or "
        "scancel {} to cancel them",
        error.hint.empty() ? "" : "\n",
        jobs,
        jobs);
    return error;
}

}  // namespace gpkg::cli
