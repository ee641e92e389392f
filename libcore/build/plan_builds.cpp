#include "libcore/build/plan_builds.hpp"

#include "libcore/build/build_graph.hpp"
#include "libcore/build/built_register.hpp"

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
                        fmt::format("{}: recipes need each other to be built",
                                    graph_.steps[circle.front()].output.name));
        std::vector<PlannedBuild> planned;
        for (std::size_t i = 0; i < graph_.steps.size(); ++i) {
            GPKG_CHECK(decide(i));
            const auto& step = graph_.steps[i];
            planned.push_back(
                {graph_.recipe_of(step).file, step.output.distribution(), *decisions_[i].reason});
        }
        return planned;
    }

private:
    struct Decision {
        std::optional<std::string> reason;  ///< empty when it is as it was
        bool in_progress = false;
    };

    Result<void> decide(std::size_t index) {
        auto& decision = decisions_[index];
        // In progress: it brings along what it needs itself, and the channel's has to do for that.
        if (decision.reason || decision.in_progress) return {};
        decision.in_progress = true;
        GPKG_TRY(decision.reason, why(graph_.steps[index]));
        return {};
    }

    Result<std::string> why(const BuildGraph::Step& step) {
        if (options_.rebuild) return "--rebuild";
        const auto is_new = [&](std::size_t maker) {
            return decisions_[maker].reason && !decisions_[maker].reason->empty();
        };
        const auto told = [&](std::size_t maker) {
            return fmt::format("it needs {}, which is built anew",
                               graph_.steps[maker].output.distribution());
        };
        for (const auto maker : step.after) {
            GPKG_CHECK(decide(maker));
            if (is_new(maker)) return told(maker);
        }
        for (const auto maker : step.after_others) {
            GPKG_CHECK(decide(maker));
            if (is_new(maker)) return told(maker);
        }
        GPKG_TRY(const auto inputs, built_.inputs(graph_.recipe_of(step), step.output));
        GPKG_TRY(const auto reason, built_.why_build(step.output, inputs));
        return reason.value_or("");
    }

    BuildGraph graph_;
    const BuildOptions& options_;
    BuiltRegister built_;
    std::vector<Decision> decisions_;  ///< of each step
};

}  // namespace

Result<BuildPlan> plan_builds(const std::vector<fs::path>& recipes, const BuildOptions& options) {
    auto graph = BuildGraph::of(recipes, options.render);
    BuildPlan plan;
    for (auto& recipe : graph.recipes) {
        if (recipe.error) plan.failures.push_back({recipe.file, {}, *std::move(recipe.error)});
    }
    GPKG_TRY(plan.builds, Plan(std::move(graph), options).run());
    return plan;
}

}  // namespace gpkg
