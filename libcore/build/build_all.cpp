// Many outputs: who waits for whom, several at a time.

#include "libcore/base/parallel.hpp"
#include "libcore/build/build_graph.hpp"
#include "libcore/build/build_place.hpp"
#include "libcore/build/builder.hpp"
#include "libcore/build/built_register.hpp"
#include "libcore/build/checks/check_needs.hpp"
#include "libcore/build/output_build.hpp"
#include "libcore/build/run_claim.hpp"
#include "libcore/build/staging_area.hpp"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

namespace gpkg {
namespace {

struct Job {
    enum class State { Waiting, Running, Done, Failed };
    State state = State::Waiting;
    std::uintmax_t weight = 0;
    std::string lane;
    std::optional<BuiltPackage> package;
    std::optional<Error> error;
};

/// The outputs of one recipe that begin with the same one, and so are built in the same place.
struct Lane {
    Lane(const Recipe& recipe, const BuildOptions& options) : staging(recipe, options) {}
    bool is_busy = false;
    std::size_t jobs_left = 0;
    StagingArea staging;
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
    Scheduler(const std::vector<fs::path>& files, const BuildOptions& options)
        : options_(options), each_(options), graph_(BuildGraph::of(files, options)), built_(each_) {
        const auto many = std::max(std::size_t{1}, graph_.steps.size());
        each_.jobs = std::max(1, options.jobs / static_cast<int>(many));
        each_.report = nullptr;
        for (const auto& step : graph_.steps) output_names_.insert(step.output.name);
        if (options.solve_environment)
            each_.solve_environment = [this](const auto& specs) { return solve(specs); };
    }

    Result<BuildSummary> run() {
        GPKG_TRY(auto claim, claim_outputs());
        plan();
        const auto count =
            std::min(jobs_.size(), static_cast<std::size_t>(std::max(1, options_.jobs)));
        run_in_parallel(count, [this] { work(); });
        GPKG_CHECK(check_cancelled(options_.cancelled));
        if (options_.only.empty()) check_needs_of_jobs();
        GPKG_TRY(auto made, summary());
        made.claim = std::make_shared<const RunClaim>(std::move(claim));
        return made;
    }

private:
    /// The caller's solver and its environments, one at a time.
    Result<SolvedEnvironment> solve(const std::vector<std::string>& specs) {
        const std::scoped_lock lock(environments_);
        GPKG_TRY(auto solved, options_.solve_environment(specs));
        solved.make = [this, make = std::move(solved.make)](const fs::path& prefix,
                                                            const fs::path& seen) {
            const std::scoped_lock inner(environments_);
            return make(prefix, seen);
        };
        return solved;
    }

    /// Two runs may build different outputs at once.
    Result<RunClaim> claim_outputs() {
        RunClaim::Waiting waiting;
        waiting.cancelled = options_.cancelled;
        waiting.told = [this](const std::string& whom) { tell(BuildEvent::Kind::Waiting, whom); };
        return RunClaim::take(options_.work, graph_.claimed_names(), waiting);
    }

    void plan() {
        done_ = static_cast<std::size_t>(
            std::count_if(graph_.recipes.begin(), graph_.recipes.end(), [](const auto& recipe) {
                return recipe.error.has_value();
            }));
        total_ = done_ + graph_.steps.size();
        for (const auto& recipe : graph_.recipes) {
            if (recipe.error) tell(BuildEvent::Kind::Failed, recipe.file.native());
        }
        std::map<fs::path, std::uintmax_t> sizes;
        jobs_.resize(graph_.steps.size());
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            const auto& step = graph_.steps[i];
            const auto& recipe = graph_.recipe_of(step);
            auto& job = jobs_[i];
            job.lane = build_name(recipe, outermost(step.output));
            auto& lane = lanes_[job.lane];
            if (!lane) lane = std::make_unique<Lane>(recipe, each_);
            ++lane->jobs_left;
            for (const auto& source : step.output.sources) {
                const auto [known, is_new] = sizes.emplace(source.path, 0);
                if (is_new) known->second = size_of(source.path);
                job.weight += known->second;
            }
        }
        // The large ones first, so that no long build is left for the end.
        order_.resize(jobs_.size());
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) {
            return jobs_[a].weight > jobs_[b].weight;
        });
    }

    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            auto index = next(true);
            if (!index && running_ == 0) index = next(false);
            if (!index) {
                if (running_ == 0) {
                    refuse_circles();
                    changed_.notify_all();
                    return;
                }
                changed_.wait(lock);
                continue;
            }
            auto& job = jobs_[*index];
            auto& lane = *lanes_[job.lane];
            job.state = Job::State::Running;
            lane.is_busy = true;
            ++running_;
            tell(BuildEvent::Kind::Started, name_of(*index));
            lock.unlock();
            auto package = build_or_reuse(graph_.steps[*index], lane.staging);
            lock.lock();
            --running_;
            lane.is_busy = false;
            if (package) {
                job.state = Job::State::Done;
                leave_lane(job);
                ++done_;
                tell(package->reused ? BuildEvent::Kind::Reused : BuildEvent::Kind::Built,
                     name_of(*index));
                job.package = *std::move(package);
            } else {
                auto error = std::move(package).error();
                const auto name = name_of(*index);
                if (error.kind != ErrorKind::Interrupted && !error.message.starts_with(name))
                    error = std::move(error).while_doing("building " + name);
                finish(*index, std::move(error));
            }
            changed_.notify_all();
        }
    }

    Result<BuiltPackage> build_or_reuse(const BuildGraph::Step& step, StagingArea& staging) {
        const auto& recipe = graph_.recipe_of(step);
        const auto& output = step.output;
        GPKG_TRY(const auto inputs, built_.inputs(recipe, output));
        if (!each_.rebuild) {
            GPKG_TRY(const auto reason, built_.why_build(output, inputs));
            if (!reason) return offered(built_.package(output));
        }
        if (options_.needs_run && !output.tests.empty())
            GPKG_CHECK(check_run_names(output, output_names_, each_.solve_environment));
        GPKG_CHECK(built_.forget(output));
        GPKG_TRY(const auto* base, staging.base_of(output));
        GPKG_TRY(auto result, build_output(recipe, output, base, each_));
        GPKG_CHECK(built_.remember(result.package, inputs, result.uses));
        result.package.built_with = distributions_in(result.uses);
        return offered(std::move(result.package));
    }

    /// To those that are built with it.
    Result<BuiltPackage> offered(BuiltPackage package) const {
        if (!package.is_published && !options_.staging.empty())
            GPKG_CHECK(stage_package(package.file, options_.staging));
        return package;
    }

    /// A job whose needs are met and whose place is free; those whose needs failed fail here.
    /// `others` count: what its environments hold only because others bring it.
    std::optional<std::size_t> next(bool others) {
        for (bool again = true; again;) {
            again = false;
            for (const auto index : order_) {
                if (jobs_[index].state != Job::State::Waiting) continue;
                if (options_.is_cancelled()) {
                    finish(index, Error{ErrorKind::Interrupted, "interrupted", {}, {}});
                    continue;
                }
                auto after = graph_.steps[index].after;
                if (const auto& more = graph_.steps[index].after_others; others)
                    after.insert(after.end(), more.begin(), more.end());
                const auto is = [&](Job::State state) {
                    return [this, state](auto other) { return jobs_[other].state == state; };
                };
                const auto failed =
                    std::find_if(after.begin(), after.end(), is(Job::State::Failed));
                if (failed != after.end()) {
                    finish(
                        index,
                        Error{ErrorKind::NotFound,
                              fmt::format(
                                  "{}: needs {}, which failed", name_of(index), name_of(*failed)),
                              {},
                              {}});
                    again = true;
                    continue;
                }
                if (!lanes_[jobs_[index].lane]->is_busy &&
                    std::all_of(after.begin(), after.end(), is(Job::State::Done)))
                    return index;
            }
        }
        return std::nullopt;
    }

    void check_needs_of_jobs() {
        std::vector<Job*> made;
        std::vector<BuiltPackage*> packages;
        for (auto& job : jobs_) {
            if (!job.package) continue;
            made.push_back(&job);
            packages.push_back(&*job.package);
        }
        for (auto& [place, error] : check_needs(packages, options_)) {
            made[place]->error = std::move(error);
            made[place]->package.reset();
        }
    }

    Result<BuildSummary> summary() {
        BuildSummary summary;
        summary.skipped = graph_.skipped();
        std::size_t at = 0;
        for (std::size_t recipe = 0; recipe < graph_.recipes.size(); ++recipe) {
            auto& file = graph_.recipes[recipe];
            if (file.error) summary.failures.push_back({file.file, {}, *std::move(file.error)});
            for (; at < jobs_.size() && graph_.steps[at].recipe == recipe; ++at) {
                auto& job = jobs_[at];
                if (job.error && job.error->kind == ErrorKind::Interrupted)
                    return fail(ErrorKind::Interrupted, "interrupted");
                if (job.error)
                    summary.failures.push_back({file.file, name_of(at), *std::move(job.error)});
                if (job.package) summary.packages.push_back(*std::move(job.package));
            }
        }
        return summary;
    }

    void refuse_circles() {
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            if (jobs_[i].state != Job::State::Waiting) continue;
            finish(i,
                   Error{ErrorKind::Unsupported,
                         fmt::format("{}: circular dependency between recipes", name_of(i)),
                         {},
                         {}});
        }
    }

    void finish(std::size_t index, Error error) {
        auto& job = jobs_[index];
        job.state = Job::State::Failed;
        job.error = std::move(error);
        leave_lane(job);
        ++done_;
        tell(BuildEvent::Kind::Failed, name_of(index));
    }

    /// What was staged for a lane goes with the last of its jobs.
    void leave_lane(const Job& job) {
        auto& lane = lanes_[job.lane];
        if (--lane->jobs_left == 0) lane.reset();
    }

    std::string name_of(std::size_t index) const {
        return graph_.steps[index].output.distribution();
    }

    void tell(BuildEvent::Kind kind, std::string what) const {
        if (options_.report) options_.report({kind, std::move(what), done_, total_});
    }

    const BuildOptions& options_;
    BuildOptions each_;  ///< of the build of one output
    BuildGraph graph_;
    BuiltRegister built_;
    std::set<std::string> output_names_;
    std::vector<Job> jobs_;           ///< of the graph's steps
    std::vector<std::size_t> order_;  ///< in which they are looked at
    std::map<std::string, std::unique_ptr<Lane>> lanes_;
    std::mutex mutex_;
    std::mutex environments_;  ///< their makers share an index and a store: one at a time
    std::condition_variable changed_;
    std::size_t running_ = 0;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
};

}  // namespace

Result<BuildSummary> build_all(const std::vector<fs::path>& recipes, const BuildOptions& options) {
    return Scheduler(recipes, options).run();
}

}  // namespace gpkg
