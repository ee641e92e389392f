#include "cli/workflow/build/slurm_run.hpp"

#include "cli/workflow/build/build_ledger.hpp"
#include "cli/workflow/build/slurm_failures.hpp"
#include "cli/workflow/build/slurm_jobs.hpp"
#include "libcore/build/cluster/build_tasks.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace gpkg::cli {
namespace {

constexpr std::size_t kShownLines = 10;  ///< of a log

class SlurmRun {
public:
    SlurmRun(Context& context,
             const BuildRequest& request,
             const std::vector<fs::path>& recipes,
             BuildOptions& options,
             Progress& progress)
        : context_(context),
          request_(request),
          recipes_(recipes),
          options_(options),
          progress_(progress),
          jobs_(context, request, options.work),
          ledger_(context, options) {}

    Result<void> run(BuildOutcome& outcome) {
        GPKG_TRY(outcome.built.claim, claim_builds(recipes_, options_));
        auto done = carry_out(outcome);
        if (!done) return pass(jobs_.ended_early(std::move(done).error()));
        return {};
    }

private:
    struct Task {
        enum class State { Waiting, Submitted, Over };
        BuildTask task;
        State state = State::Waiting;
        std::optional<SlurmJobs::Id> id{};
    };
    /// What an earlier run's task made that nobody had gathered.
    struct Found {
        BuildInputs inputs;
        std::vector<std::string> warnings;
        std::string node;
        std::string job;
    };

    Result<void> carry_out(BuildOutcome& outcome) {
        GPKG_CHECK(gather_left());
        GPKG_TRY(auto plan, plan_builds(recipes_, options_));
        ledger_.begin(std::move(plan));
        GPKG_CHECK(take_present());
        for (auto& task : build_tasks(ledger_.plan())) tasks_.push_back({std::move(task)});
        GPKG_CHECK(match_left());
        GPKG_CHECK(carry_out_tasks());
        if (!request_.no_test) {
            GPKG_CHECK(add_tests());
            GPKG_CHECK(carry_out_tasks());
        }
        ledger_.end(outcome);
        return {};
    }

    Result<void> gather_left() {
        GPKG_TRY(const auto ended, jobs_.recover());
        for (const auto& one : ended) {
            if (!one.answer) {
                GPKG_CHECK(jobs_.forget(one.id));
                continue;
            }
            GPKG_TRY(const auto order, read_order(jobs_.folder(one.id)));
            const auto job = jobs_.job(one.id);
            GPKG_CHECK(jobs_.gather(one.id));
            if (!order.builds_packages) continue;
            for (const auto& [name, inputs] : order.builds) {
                const auto good = one.answer->warnings.find(name.substr(name.rfind('/') + 1));
                if (good == one.answer->warnings.end()) continue;
                found_[name] = {inputs, good->second, one.answer->node, job};
            }
        }
        return {};
    }

    /// What is there already.
    Result<void> take_present() {
        for (std::size_t i = 0; i < ledger_.count(); ++i) {
            const auto& planned = ledger_.planned(i);
            if (planned.error) continue;
            const auto found = found_.find(planned.name);
            if (found != found_.end() && found->second.inputs == planned.inputs) {
                const auto& [inputs, warnings, node, job] = found->second;
                GPKG_CHECK(ledger_.finish(i, node, job, warnings));
            } else if (!planned.is_needed()) {
                ledger_.keep(i);
            }
        }
        return {};
    }

    TaskOrder order_of(const BuildTask& task, bool builds_packages) const {
        TaskOrder order;
        order.work = options_.work;
        order.builds_packages = builds_packages;
        order.tests_packages = !request_.no_test && task.can_test;
        for (const auto i : task.builds) {
            const auto& build = ledger_.planned(i);
            order.builds[build.name] = build.inputs;
            if (order.recipes.empty() || order.recipes.back() != build.recipe)
                order.recipes.push_back(build.recipe);
        }
        ledger_.add_made_to(order);
        return order;
    }

    /// Builds that are in the queue already are waited for. Those of a recipe that was changed
    /// since then would make what nobody wants any more.
    Result<void> match_left() {
        std::map<std::string, std::size_t> task_of;
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            for (const auto build : tasks_[i].task.builds) task_of[ledger_.planned(build).name] = i;
        }
        const auto match = [&](const TaskOrder& order) -> Task* {
            const auto found = task_of.find(order.builds.begin()->first);
            if (found == task_of.end()) return nullptr;
            auto& task = tasks_[found->second];
            return order.is_as(order_of(task.task, true)) ? &task : nullptr;
        };
        return adopt_or_drop(true, match);
    }

    /// Of what earlier runs left in the queue, and this run is about: takes what has a task here,
    /// and cancels the rest.
    Result<void> adopt_or_drop(bool builds_packages,
                               const std::function<Task*(const TaskOrder&)>& match) {
        std::set<std::string> names;
        for (const auto& build : ledger_.plan().builds) names.insert(build.name);
        std::set<SlurmJobs::Id> stale;
        std::size_t taken = 0;
        const auto left = jobs_.left();
        for (const auto& [id, order] : left) {
            if (order.builds_packages != builds_packages ||
                !names.contains(order.builds.begin()->first))
                continue;
            auto* task = match(order);
            if (task == nullptr || task->id) {
                stale.insert(id);
                continue;
            }
            jobs_.adopt(id);
            task->id = id;
            task->state = Task::State::Submitted;
            ++taken;
        }
        if (taken > 0)
            context_.out.note(fmt::format(
                "waiting for {} build{} submitted earlier", taken, taken == 1 ? "" : "s"));
        return stale.empty() ? Result<void>() : jobs_.drop(stale);
    }

    Result<void> carry_out_tasks() {
        for (;;) {
            GPKG_CHECK(submit_ready());
            show_progress();
            if (!jobs_.is_waiting()) return {};
            GPKG_TRY(const auto ended, jobs_.next());
            for (const auto& one : ended) GPKG_CHECK(settle(one));
        }
    }

    void show_progress() {
        progress_.count("building", ledger_.decided(), ledger_.count(), "packages");
    }

    Result<void> submit_ready() {
        std::vector<Task*> ready;
        std::vector<TaskOrder> orders;
        // One that has nothing left to do may be what others wait for.
        for (bool again = true; again;) {
            again = false;
            for (auto& task : tasks_) {
                const bool is_ready = task.state == Task::State::Waiting &&
                                      std::all_of(task.task.after.begin(),
                                                  task.task.after.end(),
                                                  [&](auto i) { return is_over(tasks_[i]); });
                if (!is_ready) continue;
                if (is_testing_) {
                    task.state = Task::State::Submitted;
                } else {
                    leave_out_hopeless(task.task);
                    again = again || task.task.builds.empty();
                    task.state =
                        task.task.builds.empty() ? Task::State::Over : Task::State::Submitted;
                }
                if (task.state == Task::State::Over) continue;
                ready.push_back(&task);
                orders.push_back(order_of(task.task, !is_testing_));
            }
        }
        if (!orders.empty()) progress_.clear();
        GPKG_TRY(const auto ids, jobs_.submit(orders));
        for (std::size_t i = 0; i < ready.size(); ++i) ready[i]->id = ids[i];
        return {};
    }

    static bool is_over(const Task& task) { return task.state == Task::State::Over; }

    /// Takes away builds that need one that failed.
    void leave_out_hopeless(BuildTask& task) {
        for (bool again = true; again;) {
            again = std::erase_if(task.builds, [&](auto i) {
                        const auto cause = ledger_.failed_need_of(i);
                        if (cause)
                            ledger_.fail(i,
                                         Error{ErrorKind::NotFound,
                                               fmt::format("{}: needs {}, which failed",
                                                           ledger_.planned(i).distribution,
                                                           ledger_.planned(*cause).distribution),
                                               {},
                                               {}});
                        return cause.has_value();
                    }) > 0;
        }
    }

    Result<void> settle(const SlurmJobs::Ended& ended) {
        const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& task) {
            return task.id && *task.id == ended.id;
        });
        if (found == tasks_.end()) return {};
        found->state = Task::State::Over;
        return ended.answer ? take_answer(found->task, ended) : take_death(found->task, ended);
    }

    /// It was ended before it could say anything.
    Result<void> take_death(const BuildTask& task, const SlurmJobs::Ended& ended) {
        const auto& first = ledger_.planned(task.builds.front()).distribution;
        const auto slurm_log = keep_log(jobs_.log(ended.id), first + ".slurm.log");
        auto death = death_of(ended.told, jobs_.job(ended.id));
        if (!slurm_log.empty())
            death.message +=
                fmt::format("; its output was:\n{}", last_lines_of(slurm_log, kShownLines));
        for (const auto i : task.builds) {
            const auto& distribution = ledger_.planned(i).distribution;
            auto error = death;
            error.message = fmt::format("{}: {}", distribution, death.message);
            auto place = place_of(i, ended);
            place.log = slurm_log;
            const auto name = distribution + ".log";
            const auto log = keep_log(jobs_.folder(ended.id) / "logs" / name, name);
            if (!log.empty()) {
                place.log = log;
                error.message += fmt::format("\nlast output of the build script:\n{}",
                                             last_lines_of(log, kShownLines));
            }
            tell_place(error, place);
            fail(i, std::move(error));
        }
        return jobs_.forget(ended.id);
    }

    /// Copies it to the logs of the run, because Slurm may write on. Gives the place; none where
    /// there is nothing to keep.
    std::string keep_log(const fs::path& log, const std::string& name) const {
        const auto place = options_.work / "logs" / name;
        const auto text = read_file(log);
        if (!text || text->empty() || !write_file_atomically(place, *text)) return {};
        return place;
    }

    Result<void> take_answer(const BuildTask& task, const SlurmJobs::Ended& ended) {
        const auto folder = jobs_.folder(ended.id);
        const auto& answer = *ended.answer;
        GPKG_CHECK(jobs_.gather(ended.id));
        for (const auto i : task.builds) {
            const auto& distribution = ledger_.planned(i).distribution;
            const auto place = place_of(i, ended);
            bool is_good = true;
            for (const auto& [whose, error] : answer.failures) {
                if (!whose.empty() && whose != distribution) continue;
                is_good = false;
                fail(i, told_here(error, folder, options_.work, place));
            }
            for (const auto& [whose, error] : answer.failed_tests) {
                if (whose != distribution) continue;
                is_good = false;
                ledger_.fail_tests(i, told_here(error, folder, options_.work, place));
            }
            if (!is_good) continue;
            const auto warnings = answer.warnings.find(distribution);
            if (is_testing_)
                ledger_.pass_tests(i);
            else
                GPKG_CHECK(ledger_.finish(i,
                                          answer.node,
                                          place.job,
                                          warnings == answer.warnings.end()
                                              ? std::vector<std::string>()
                                              : warnings->second));
        }
        return {};
    }

    /// What it was to do, which now is to test where everything is built.
    void fail(std::size_t i, Error error) {
        is_testing_ ? ledger_.fail_tests(i, std::move(error)) : ledger_.fail(i, std::move(error));
    }

    TaskPlace place_of(std::size_t i, const SlurmJobs::Ended& ended) const {
        const auto& build = ledger_.planned(i);
        TaskPlace place{build.distribution, build.variant, {}, jobs_.job(ended.id), {}, {}};
        if (ended.told) {
            place.node = ended.told->node;
            place.state = ended.told->state;
        }
        if (ended.answer) {
            place.node = ended.answer->node;
            place.log = build.package.log.native();
        }
        return place;
    }

    /// What could not be tested where it was built, and what an earlier run built and did not test.
    Result<void> add_tests() {
        is_testing_ = true;
        tasks_.clear();
        for (std::size_t i = 0; i < ledger_.count(); ++i) {
            if (!ledger_.wants_tests(i)) continue;
            Task task;
            task.task.builds = {i};
            tasks_.push_back(std::move(task));
        }
        return adopt_or_drop(false, [this](const TaskOrder& order) -> Task* {
            for (auto& task : tasks_) {
                if (order.is_as(order_of(task.task, false))) return &task;
            }
            return nullptr;
        });
    }

    Context& context_;
    const BuildRequest& request_;
    const std::vector<fs::path>& recipes_;
    BuildOptions& options_;
    Progress& progress_;
    SlurmJobs jobs_;
    std::map<std::string, Found> found_;  ///< by full name
    BuildLedger ledger_;
    std::vector<Task> tasks_;
    bool is_testing_ = false;  ///< everything is built, and `tasks_` only test
};

}  // namespace

Result<void> build_by_slurm(Context& context,
                            const BuildRequest& request,
                            const std::vector<fs::path>& recipes,
                            BuildOptions& options,
                            Progress& progress,
                            BuildOutcome& outcome) {
    return SlurmRun(context, request, recipes, options, progress).run(outcome);
}

}  // namespace gpkg::cli
