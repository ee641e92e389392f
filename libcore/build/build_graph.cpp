#include "libcore/build/build_graph.hpp"

#include <map>

namespace gpkg {
namespace {

/// Every variant of a package counts: which of them the solver takes is not known yet. A package
/// that needs an older one of its own name does not wait for itself.
void connect(std::vector<BuildGraph::Step>& steps) {
    std::multimap<std::string, std::size_t> makers;
    for (std::size_t i = 0; i < steps.size(); ++i) makers.emplace(steps[i].output.name, i);
    for (auto& step : steps) {
        for (const auto& name : names_needed_to_build(step.output)) {
            if (name == step.output.name) continue;
            const auto [first, last] = makers.equal_range(name);
            for (auto at = first; at != last; ++at) step.after.push_back(at->second);
        }
    }
}

}  // namespace

BuildGraph BuildGraph::of(const std::vector<fs::path>& files, const RenderOptions& options) {
    BuildGraph graph;
    for (const auto& file : files) {
        auto& entry = graph.recipes.emplace_back();
        entry.file = file;
        auto recipe = load_recipe(file);
        if (!recipe) {
            entry.error = std::move(recipe).error();
            continue;
        }
        entry.recipe = *std::move(recipe);
        auto outputs = render_recipe(*entry.recipe, options);
        if (!outputs) {
            entry.error = std::move(outputs).error();
            continue;
        }
        for (auto& output : *outputs)
            graph.steps.push_back({graph.recipes.size() - 1, std::move(output), {}});
    }
    connect(graph.steps);
    return graph;
}

}  // namespace gpkg
