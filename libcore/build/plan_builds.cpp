#include "libcore/build/plan_builds.hpp"

#include "libcore/build/build_graph.hpp"
#include "libcore/build/build_place.hpp"
#include "libcore/build/built_register.hpp"
#include "libcore/build/run_claim.hpp"

#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

class Plan {
public:
    Plan(BuildGraph graph, const BuildOptions& options)
        : graph_(std::move(graph)),
          options_(options),
          built_(options),
          decisions_(graph_.steps.size()) {}

    Result<std::vector<PlannedBuild>> run() {
        if (const auto circle = graph_.circle(); !circle.empty())
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: circular dependency between recipes",
                                    graph_.steps[circle.front()].output.name));
        std::vector<PlannedBuild> planned;
        for (std::size_t i = 0; i < graph_.steps.size(); ++i) {
            GPKG_CHECK(decide(i));
            planned.push_back(told(i));
        }
        return planned;
    }

private:
    struct Decision {
        std::optional<std::string> reason;  ///< empty when it is as it was
        std::optional<Error> error;
        BuildInputs inputs;
        bool in_progress = false;

        bool is_made() const { return reason || error; }
    };

    PlannedBuild told(std::size_t index) {
        const auto& step = graph_.steps[index];
        const auto& recipe = graph_.recipe_of(step);
        auto& decision = decisions_[index];
        PlannedBuild build;
        build.recipe = recipe.file;
        build.distribution = step.output.distribution();
        build.reason = decision.reason.value_or("");
        build.error = std::move(decision.error);
        build.name = full_name(step.output);
        build.place = build_name(recipe, outermost(step.output));
        for (const auto& [key, value] : step.output.used_variant) build.variant[key] = value.text;
        build.inputs = std::move(decision.inputs);
        build.after = step.after;
        build.after_others = step.after_others;
        build.tested_with = step.tested_with;
        build.package = built_.package(step.output);
        return build;
    }

    Result<void> decide(std::size_t index) {
        auto& decision = decisions_[index];
        // In progress: it brings along what it needs itself, and the channel's has to do for that.
        if (decision.is_made() || decision.in_progress) return {};
        decision.in_progress = true;
        const auto& step = graph_.steps[index];
        auto inputs = built_.inputs(graph_.recipe_of(step), step.output);
        if (!inputs) return refuse(index, std::move(inputs).error());
        decision.inputs = *std::move(inputs);
        GPKG_TRY(auto above, reason_above(step));
        if (above.empty()) {
            auto own = built_.why_build(step.output, decision.inputs);
            if (!own) return refuse(index, std::move(own).error());
            above = own->value_or("");
        }
        if (above.empty()) GPKG_CHECK(stage(step));
        decision.reason = std::move(above);
        return {};
    }

    Result<void> refuse(std::size_t index, Error error) {
        if (error.kind == ErrorKind::Interrupted) return pass(std::move(error));
        decisions_[index].error =
            std::move(error).while_doing("planning " + graph_.steps[index].output.distribution());
        return {};
    }

    /// Why it is to be built, whatever it is made of; empty where that has to be looked at.
    Result<std::string> reason_above(const BuildGraph::Step& step) {
        for (const auto* makers : {&step.after, &step.after_others}) {
            for (const auto maker : *makers) {
                GPKG_CHECK(decide(maker));
                const auto& decision = decisions_[maker];
                const bool is_new =
                    decision.error || (decision.reason && !decision.reason->empty());
                if (is_new && !options_.rebuild)
                    return fmt::format("needs {}, which is rebuilt",
                                       graph_.steps[maker].output.distribution());
            }
        }
        return options_.rebuild ? "--rebuild" : "";
    }

    /// What is not published is offered to those that are built with it.
    Result<void> stage(const BuildGraph::Step& step) const {
        const auto package = built_.package(step.output);
        if (package.is_published || options_.staging.empty()) return {};
        return stage_package(package.file, options_.staging);
    }

    BuildGraph graph_;
    const BuildOptions& options_;
    BuiltRegister built_;
    std::vector<Decision> decisions_;  ///< of each step
};

}  // namespace

Result<BuildPlan> plan_builds(const std::vector<fs::path>& recipes, const BuildOptions& options) {
    auto graph = BuildGraph::of(recipes, options);
    BuildPlan plan;
    plan.skipped = graph.skipped();
    for (auto& recipe : graph.recipes) {
        if (recipe.error) plan.failures.push_back({recipe.file, {}, *std::move(recipe.error)});
    }
    GPKG_TRY(plan.builds, Plan(std::move(graph), options).run());
    return plan;
}

BuiltPackage package_now(const PlannedBuild& build, const BuildOptions& options) {
    const Publisher publisher(options.channel, options.work);
    auto package = build.package;
    auto waiting =
        publisher.unpublished(package.file.parent_path().filename(), package.file.filename());
    std::error_code code;
    if (fs::exists(waiting, code)) {
        package.file = std::move(waiting);
        package.is_published = false;
    }
    package.tested = publisher.is_tested(package);
    package.built_with = noted_distributions(package.file, options.work);
    return package;
}

Result<std::shared_ptr<const RunClaim>> claim_builds(const std::vector<fs::path>& recipes,
                                                     const BuildOptions& options) {
    RunClaim::Waiting waiting;
    waiting.cancelled = options.cancelled;
    waiting.told = [&](const std::string& whom) {
        if (options.report) options.report({BuildEvent::Kind::Waiting, whom});
    };
    const auto names = BuildGraph::of(recipes, options).claimed_names();
    GPKG_TRY(auto claim, RunClaim::take(options.work, names, waiting));
    return std::make_shared<const RunClaim>(std::move(claim));
}

}  // namespace gpkg
