// Many recipes: who waits for whom, several at a time.

#include "libcore/base/parallel.hpp"
#include "libcore/build/builder.hpp"
#include "libcore/build/unmet_needs.hpp"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>

namespace gpkg {
namespace {

struct Job {
    enum class State { Waiting, Running, Done, Failed };
    fs::path file;
    std::optional<Recipe> recipe;
    std::string name;  ///< of the first output, for reports
    std::uintmax_t weight = 0;
    std::vector<std::size_t> after;  ///< jobs that make what this one needs
    State state = State::Waiting;
    std::vector<BuiltPackage> packages;
    std::optional<Error> error;
};

std::uintmax_t size_of(const fs::path& path) {
    std::uintmax_t total = 0;
    std::error_code code;
    fs::recursive_directory_iterator walk(path, code);
    while (!code && walk != fs::recursive_directory_iterator()) {
        std::error_code ignored;
        if (walk->is_regular_file(ignored) && !walk->is_symlink(ignored))
            total += walk->file_size(ignored);
        walk.increment(code);
    }
    return total;
}

class Scheduler {
public:
    Scheduler(const std::vector<fs::path>& files, const BuildOptions& options) : options_(options) {
        // Threads go to recipes; within one, work is done by one.
        one_.emplace(options);
        one_->jobs = 1;
        one_->report = nullptr;
        if (options.solve_environment)
            one_->solve_environment = [this](const auto& specs) { return solve(specs); };
        for (const auto& file : files) jobs_.emplace_back().file = file;
    }

    Result<BuildSummary> run() {
        plan();
        const auto count =
            std::min(jobs_.size(), static_cast<std::size_t>(std::max(1, options_.jobs)));
        run_in_parallel(count, [this] { work(); });

        check_needs();
        BuildSummary summary;
        for (auto& job : jobs_) {
            for (auto& package : job.packages) summary.packages.push_back(std::move(package));
            if (job.error && job.error->kind == ErrorKind::Interrupted) return pass(*job.error);
            if (job.error) summary.failures.push_back({job.file, *std::move(job.error)});
        }
        return summary;
    }

private:
    /// The caller's solver and its environments, one at a time.
    Result<SolvedEnvironment> solve(const std::vector<std::string>& specs) {
        const std::scoped_lock lock(environments_);
        GPKG_TRY(auto solved, options_.solve_environment(specs));
        solved.make = [this, make = std::move(solved.make)](const fs::path& prefix) {
            const std::scoped_lock inner(environments_);
            return make(prefix);
        };
        return solved;
    }

    void plan() {
        std::map<std::string, std::size_t> maker;
        std::vector<std::set<std::string>> needs(jobs_.size());
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            auto& job = jobs_[i];
            auto recipe = load_recipe(job.file);
            if (!recipe) {
                finish(job, std::move(recipe).error());
                continue;
            }
            job.recipe = *std::move(recipe);
            auto outputs = render_recipe(*job.recipe, options_.render);
            if (!outputs) {
                finish(job, std::move(outputs).error());
                continue;
            }
            for (const auto& output : *outputs) {
                if (job.name.empty()) job.name = output.distribution();
                maker.emplace(output.name, i);
                for (const auto& source : output.sources) job.weight += size_of(source.path);
                needs[i].merge(names_needed_to_build(output));
            }
        }
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            for (const auto& name : needs[i]) {
                const auto found = maker.find(name);
                if (found != maker.end() && found->second != i)
                    jobs_[i].after.push_back(found->second);
            }
        }
        // The large ones first, so that no long build is left for the end.
        order_.resize(jobs_.size());
        for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
        std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) {
            return jobs_[a].weight > jobs_[b].weight;
        });
    }

    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            auto* job = next();
            if (job == nullptr) {
                if (running_ == 0) {
                    refuse_circles();
                    changed_.notify_all();
                    return;
                }
                changed_.wait(lock);
                continue;
            }
            job->state = Job::State::Running;
            ++running_;
            tell(BuildEvent::Kind::Started, *job);
            lock.unlock();
            auto packages = build_recipe(*job->recipe, *one_);
            lock.lock();
            --running_;
            if (packages) {
                job->packages = *std::move(packages);
                job->state = Job::State::Done;
                ++done_;
                const bool reused = std::all_of(job->packages.begin(),
                                                job->packages.end(),
                                                [](const auto& p) { return p.reused; });
                tell(reused ? BuildEvent::Kind::Reused : BuildEvent::Kind::Built, *job);
            } else {
                auto error = std::move(packages).error();
                if (error.kind != ErrorKind::Interrupted)
                    error = std::move(error).while_doing("building " + job->name);
                finish(*job, std::move(error));
            }
            changed_.notify_all();
        }
    }

    /// A job whose needs are met; those whose needs failed fail here.
    Job* next() {
        for (bool again = true; again;) {
            again = false;
            for (const auto index : order_) {
                auto& job = jobs_[index];
                if (job.state != Job::State::Waiting) continue;
                if (options_.cancelled && options_.cancelled()) {
                    finish(job, Error{ErrorKind::Interrupted, "interrupted", {}, {}});
                    continue;
                }
                const auto is = [&](Job::State state) {
                    return [this, state](auto other) { return jobs_[other].state == state; };
                };
                const auto failed =
                    std::find_if(job.after.begin(), job.after.end(), is(Job::State::Failed));
                if (failed != job.after.end()) {
                    finish(
                        job,
                        Error{ErrorKind::NotFound,
                              fmt::format("{}: it needs {}, which failed",
                                          job.name,
                                          jobs_[*failed].name.empty() ? jobs_[*failed].file.native()
                                                                      : jobs_[*failed].name),
                              {},
                              {}});
                    again = true;
                    continue;
                }
                if (std::all_of(job.after.begin(), job.after.end(), is(Job::State::Done)))
                    return &job;
            }
        }
        return nullptr;
    }

    /// What no host environment could tell when a package was built. A package that needs what
    /// nothing gives leaves the channel, and its recipe fails.
    void check_needs() {
        ChannelLibraries libraries(options_.channel);
        for (auto& job : jobs_) {
            for (auto package = job.packages.begin(); package != job.packages.end();) {
                auto checked = check_needs_of(*package, libraries);
                package = checked ? std::next(package) : job.packages.erase(package);
                if (checked) continue;
                auto error = std::move(checked).error();
                if (job.error) error.message = job.error->message + "\n" + error.message;
                job.error = std::move(error);
            }
        }
    }

    Result<void> check_needs_of(BuiltPackage& package, ChannelLibraries& libraries) const {
        GPKG_TRY(const auto findings, libraries.unmet_needs(package));
        for (const auto& finding : findings) {
            if (!finding.is_error)
                package.warnings.push_back(fmt::format("{}; {}", finding.message, finding.hint));
        }
        auto refused = refuse(findings);
        if (refused) return {};
        GPKG_TRY(const auto place, withhold(package, options_.work));
        auto error = std::move(refused).error();
        error.message = fmt::format(
            "{}: it does not depend on what it needs:\n{}", package.distribution, error.message);
        error.hint = fmt::format("it is not in the channel but in {}", place.native());
        return pass(std::move(error));
    }

    void refuse_circles() {
        for (auto& job : jobs_) {
            if (job.state != Job::State::Waiting) continue;
            finish(job,
                   Error{ErrorKind::Unsupported,
                         fmt::format("{}: recipes need each other to be built", job.name),
                         {},
                         {}});
        }
    }

    void finish(Job& job, Error error) {
        job.state = Job::State::Failed;
        job.error = std::move(error);
        ++done_;
        tell(BuildEvent::Kind::Failed, job);
    }

    void tell(BuildEvent::Kind kind, const Job& job) const {
        if (options_.report)
            options_.report(
                {kind, job.name.empty() ? job.file.native() : job.name, done_, jobs_.size()});
    }

    const BuildOptions& options_;
    std::optional<BuildOptions> one_;
    std::vector<Job> jobs_;
    std::vector<std::size_t> order_;
    std::mutex mutex_;
    std::mutex environments_;  ///< their makers share an index and a store: one at a time
    std::condition_variable changed_;
    std::size_t running_ = 0;
    std::size_t done_ = 0;
};

}  // namespace

Result<BuildSummary> build_all(const std::vector<fs::path>& recipes, const BuildOptions& options) {
    return Scheduler(recipes, options).run();
}

}  // namespace gpkg
