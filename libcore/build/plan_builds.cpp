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
        if (decision.reason) return {};
        if (decision.in_progress)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: recipes need each other to be built",
                                    graph_.steps[index].output.name));
        decision.in_progress = true;
        GPKG_TRY(decision.reason, why(graph_.steps[index]));
        return {};
    }

    Result<std::string> why(const BuildGraph::Step& step) {
        if (options_.rebuild) return "--rebuild";
        for (const auto maker : step.after) {
            GPKG_CHECK(decide(maker));
            if (!decisions_[maker].reason->empty())
                return fmt::format("it needs {}, which is built anew",
                                   graph_.steps[maker].output.distribution());
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

Result<std::vector<PlannedBuild>> plan_builds(const std::vector<fs::path>& recipes,
                                              const BuildOptions& options) {
    auto graph = BuildGraph::of(recipes, options.render);
    for (auto& recipe : graph.recipes) {
        if (recipe.error) return pass(*std::move(recipe.error));
    }
    return Plan(std::move(graph), options).run();
}

}  // namespace gpkg
