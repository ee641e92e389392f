#pragma once

// What became of each build of a plan while others carry it out.

#include "cli/workflow/build/outcome.hpp"
#include "libcore/build/cluster/task_files.hpp"
#include "libcore/build/plan_builds.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// Builds are named by their place in the plan.
class BuildLedger {
public:
    /// Of nothing yet. Both arguments outlive it.
    BuildLedger(Context& context, const BuildOptions& options)
        : context_(context), options_(options) {}

    /// Of this plan: what cannot be planned has failed, and nothing else is decided.
    void begin(BuildPlan plan);

    const BuildPlan& plan() const { return plan_; }
    const PlannedBuild& planned(std::size_t build) const { return plan_.builds[build]; }
    std::size_t count() const { return entries_.size(); }
    /// How many are made, or will never be.
    std::size_t decided() const;

    /// It was there already.
    void keep(std::size_t build);
    /// It was made by a task, and its package lies in the work folder now: the plan has no reason
    /// any more to build it.
    Result<void> finish(std::size_t build,
                        const std::string& node,
                        const std::string& job,
                        const std::vector<std::string>& warnings);
    /// There will be no package.
    void fail(std::size_t build, Error error);
    /// There is one, and it is not good. It may be called for each of its tests.
    void fail_tests(std::size_t build, Error error);
    void pass_tests(std::size_t build) { entries_[build].package.tested = true; }

    /// One that failed, and without which this cannot be made.
    std::optional<std::size_t> failed_need_of(std::size_t build) const;
    /// It is good as far as is known, and has tests that did not run.
    bool wants_tests(std::size_t build) const;
    /// Names what was made and is not published, for a task to build and test with.
    void add_made_to(TaskOrder& order) const;

    /// Ends it: looks whether all that is good gets what it needs, and gives everything away.
    void end(BuildOutcome& outcome);

private:
    /// Untested: its tests failed.
    enum class Fate { Waiting, Good, Untested, Bad };
    struct Entry {
        Fate fate = Fate::Waiting;
        BuiltPackage package;
    };

    void check_needs_of_all();

    Context& context_;
    const BuildOptions& options_;
    BuildPlan plan_;
    std::vector<Entry> entries_;
    std::vector<FailedBuild> failures_;
    std::vector<FailedPackage> failed_tests_;
};

}  // namespace gpkg::cli
