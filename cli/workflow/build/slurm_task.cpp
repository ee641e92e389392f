#include "cli/workflow/build/slurm_task.hpp"

#include "cli/workflow/build/outcome.hpp"
#include "libcore/base/number.hpp"
#include "libcore/build/cluster/task_files.hpp"
#include "libcore/build/plan_builds.hpp"
#include "libcore/fs/own_program.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unistd.h>

namespace gpkg::cli {
namespace {

std::string name_of_node(const Context& context) {
    if (auto name = context.env("SLURMD_NODENAME")) return *std::move(name);
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown machine";
}

/// The processors that the job was given; 0 where that is not told.
int own_cpus(const Context& context) {
    return whole_number<int>(context.env("SLURM_CPUS_ON_NODE").value_or("")).value_or(0);
}

class SlurmTask {
public:
    SlurmTask(Context& context, const BuildRequest& request, TaskOrder order, BuildSources sources)
        : context_(context),
          request_(request),
          order_(std::move(order)),
          sources_(std::move(sources)),
          progress_(context.out),
          publisher_(channel_of(context, request), request.slurm_task) {}

    Result<void> run(TaskAnswer& answer) {
        GPKG_CHECK(stage());
        GPKG_TRY(options_,
                 build_options(context_, request_, request_.slurm_task, sources_, progress_));
        for (const auto& [name, inputs] : order_.builds) options_.only.insert(name);
        options_.own_cpus = own_cpus(context_);
        if (options_.own_cpus > 0) options_.jobs = options_.own_cpus;
        options_.solve_environment = [this, solve = std::move(options_.solve_environment)](
                                         const std::vector<std::string>& specs) {
            return without_failed(solve(specs));
        };
        if (options_.source_cache.empty()) options_.source_cache = order_.work / "sources";
        GPKG_TRY(auto plan, plan_builds(order_.recipes, options_));
        GPKG_CHECK(check_plan(plan, answer.node));
        return order_.builds_packages ? build(answer) : test(plan, answer);
    }

private:
    Result<void> stage() {
        for (const auto& package : order_.staged) {
            std::error_code code;
            if (!fs::exists(package, code))
                return fail(
                    ErrorKind::NotFound,
                    fmt::format("{}: does not exist on this machine", package.native()),
                    "put the channel and its work folder on a file system that all machines "
                    "share");
            GPKG_CHECK(stage_package(package, sources_.staging()));
        }
        return {};
    }

    /// What would be built with a package that is not published would not be either.
    Result<SolvedEnvironment> without_failed(Result<SolvedEnvironment> solved) const {
        if (!solved) return solved;
        for (const auto& line : solved->packages) {
            const auto file = line.substr(0, line.find(' '));
            const auto distribution = file.substr(file.rfind('/') + 1);
            if (order_.failed.contains(distribution))
                return fail(ErrorKind::NotFound,
                            fmt::format("needs {} to build, which failed its tests", distribution));
        }
        return solved;
    }

    /// What this machine makes of the recipes is what was planned.
    Result<void> check_plan(const BuildPlan& plan, const std::string& node) const {
        const auto hint = fmt::format(
            "the recipe changed since it was planned, or {} has other files, environment variables "
            "(sbatch --export) or another gpkg at {}",
            node,
            own_program().value_or("the same path").native());
        for (const auto& failure : plan.failures) {
            auto error = failure.error;
            if (error.kind == ErrorKind::NotFound && error.hint.empty()) error.hint = hint;
            return pass(std::move(error));
        }
        for (const auto& build : plan.builds) {
            if (build.error) return pass(*build.error);
            const auto what = difference(order_.builds.at(build.name), build.inputs);
            if (!what.empty())
                return fail(ErrorKind::Conflict,
                            fmt::format("{}: the build inputs on {} differ from the plan: {}",
                                        build.distribution,
                                        node,
                                        what),
                            hint);
        }
        return {};
    }

    Result<void> build(TaskAnswer& answer) {
        // Scripts write much that nobody keeps: to the machine's own disk.
        GPKG_TRY(const auto scratch, TemporaryFolder::make(folder_for_temporary(), "gpkg-build-"));
        options_.scratch = request_.keep_work ? order_.work : scratch.path();
        GPKG_TRY(options_.sandbox, sandbox_of(context_, request_.sandbox));
        BuildOutcome outcome;
        GPKG_TRY(outcome.built, build_all(order_.recipes, options_));
        const Gates gates{order_.tests_packages, std::nullopt};
        GPKG_CHECK(judge(context_, gates, sources_, publisher_, outcome));
        for (auto& failure : outcome.built.failures)
            answer.failures.push_back({failure.distribution, std::move(failure.error)});
        take(outcome.failed_tests, answer);
        const auto gone = outcome.withheld();
        for (auto& package : outcome.built.packages) {
            if (!gone.contains(package.distribution))
                answer.warnings[package.distribution] = std::move(package.warnings);
        }
        return {};
    }

    Result<void> test(const BuildPlan& plan, TaskAnswer& answer) {
        std::vector<BuiltPackage> packages;
        for (const auto& build : plan.builds) {
            auto package = build.package;
            for (const auto& staged : order_.staged) {
                if (staged.filename() != package.file.filename()) continue;
                package.file = staged;
                package.is_published = false;
            }
            package.tested = false;
            packages.push_back(std::move(package));
        }
        GPKG_TRY(auto failed, test_packages(context_, sources_, packages, publisher_));
        take(failed, answer);
        return {};
    }

    static void take(std::vector<FailedPackage>& failed, TaskAnswer& answer) {
        for (auto& failure : failed)
            answer.failed_tests.push_back({failure.distribution, std::move(failure.error)});
    }

    Context& context_;
    const BuildRequest& request_;
    TaskOrder order_;
    BuildSources sources_;
    Progress progress_;
    Publisher publisher_;
    BuildOptions options_;
};

/// The user's words, for what messages say of them.
void hide_task_word(Context& context) {
    auto& words = context.arguments;
    const auto found = std::find(words.begin(), words.end(), "--slurm-task");
    if (words.end() - found < 2) return;
    const auto place = static_cast<std::size_t>(found - words.begin());
    words.erase(found, found + 2);
    for (auto& other : context.positionals) {
        if (other > place) other -= 2;
    }
}

void print(Context& context, const TaskAnswer& answer) {
    for (const auto* failures : {&answer.failures, &answer.failed_tests}) {
        for (const auto& failure : *failures) context.out.error(failure.error);
    }
    for (const auto& [distribution, warnings] : answer.warnings)
        context.out.print(fmt::format("{}: built on {}", distribution, answer.node));
}

}  // namespace

Result<int> run_slurm_task(Context& context, const BuildRequest& request) {
    const Orphanage orphanage;
    hide_task_word(context);
    const fs::path folder = request.slurm_task;
    GPKG_TRY(auto order, read_order(folder));
    GPKG_CHECK(remove_answer(folder));  // of this task before Slurm gave it to another machine
    GPKG_TRY(auto sources,
             BuildSources::of(context, request.sources, channel_of(context, request)));
    TaskAnswer answer;
    answer.node = name_of_node(context);
    auto done = SlurmTask(context, request, std::move(order), std::move(sources)).run(answer);
    // Slurm knows why it ends what it ends early.
    if (!done && done.error().kind == ErrorKind::Interrupted) return pass(std::move(done).error());
    if (!done) answer.failures.push_back({{}, std::move(done).error()});
    GPKG_CHECK(write_answer(folder, answer));
    print(context, answer);
    return answer.is_success() ? 0 : 1;
}

}  // namespace gpkg::cli
