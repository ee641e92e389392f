#include "libcore/build/build_graph.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/build_place.hpp"
#include "libcore/recipe/dependency.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <system_error>

namespace gpkg {
namespace {

/// What comes along when the output is installed into an environment.
std::set<std::string> names_brought_by(const RenderedOutput& output) {
    std::set<std::string> names;
    const auto& exports = output.requirements.run_exports;
    for (const auto* specs :
         {&output.requirements.run, &exports.weak, &exports.strong, &exports.noarch}) {
        for (const auto& spec : *specs) names.emplace(dependency_name(spec));
    }
    return names;
}

/// What is in the environments of its tests, and is not brought by something else there.
std::set<std::string> names_needed_to_test(const RenderedOutput& output) {
    std::set<std::string> names;
    if (output.tests.empty()) return names;
    for (const auto& spec : output.requirements.run) names.emplace(dependency_name(spec));
    for (const auto& test : output.tests) {
        if (!test.downstream.empty()) names.emplace(dependency_name(test.downstream));
        for (const auto& specs : test_environments(test)) {
            for (const auto& spec : specs) names.emplace(dependency_name(spec));
        }
    }
    return names;
}

/// Every variant of a package counts: which of them the solver takes is not known yet. A package
/// that needs an older one of its own name does not wait for itself.
class Connector {
public:
    explicit Connector(std::vector<BuildGraph::Step>& steps) : steps_(steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) makers_.emplace(steps[i].output.name, i);
    }

    void connect(BuildGraph::Step& step) const {
        std::set<std::size_t> known;
        add(names_needed_to_build(step.output), step, known, step.after);
        add_brought(step.after, step, known, step.after_others);
        known.clear();
        add(names_needed_to_test(step.output), step, known, step.tested_with);
        std::vector<std::size_t> others;
        add_brought(step.tested_with, step, known, others);
        step.tested_with.insert(step.tested_with.end(), others.begin(), others.end());
    }

private:
    /// What comes along with what these steps make.
    void add_brought(std::vector<std::size_t> waiting,
                     const BuildGraph::Step& step,
                     std::set<std::size_t>& known,
                     std::vector<std::size_t>& to) const {
        while (!waiting.empty()) {
            const auto maker = waiting.back();
            waiting.pop_back();
            std::vector<std::size_t> more;
            add(names_brought_by(steps_[maker].output), step, known, more);
            waiting.insert(waiting.end(), more.begin(), more.end());
            to.insert(to.end(), more.begin(), more.end());
        }
    }

    void add(const std::set<std::string>& names,
             const BuildGraph::Step& step,
             std::set<std::size_t>& known,
             std::vector<std::size_t>& to) const {
        for (const auto& name : names) {
            if (name == step.output.name) continue;
            const auto [first, last] = makers_.equal_range(name);
            for (auto at = first; at != last; ++at) {
                if (known.insert(at->second).second) to.push_back(at->second);
            }
        }
    }

    std::vector<BuildGraph::Step>& steps_;
    std::multimap<std::string, std::size_t> makers_;
};

/// One file of a channel can be made once. The first of those that would make it is built.
void refuse_twins(BuildGraph& graph) {
    std::map<std::string, std::size_t> makers;
    std::vector<BuildGraph::Step> kept;
    for (auto& step : graph.steps) {
        const auto file = full_name(step.output);
        const auto [first, is_new] = makers.emplace(file, step.recipe);
        auto& recipe = graph.recipes[step.recipe];
        if (!is_new) {
            if (recipe.error) continue;
            recipe.error = Error{ErrorKind::Conflict,
                                 fmt::format("{}: builds {}, which {} also builds",
                                             recipe.file.native(),
                                             file,
                                             graph.recipes[first->second].file.native()),
                                 "change the name, version or build number in one of them",
                                 {}};
        }
        kept.push_back(std::move(step));
    }
    std::erase_if(kept,
                  [&](const auto& step) { return graph.recipes[step.recipe].error.has_value(); });
    graph.steps = std::move(kept);
}

/// Leaves of the steps what is asked for. What is asked for and not made is an error of the
/// recipes.
void choose(BuildGraph& graph, std::set<std::string> only) {
    if (only.empty()) return;
    std::vector<std::string> made;
    for (const auto& step : graph.steps) made.push_back(full_name(step.output));
    std::erase_if(graph.steps,
                  [&](const auto& step) { return only.erase(full_name(step.output)) == 0; });
    const auto unread = [](const auto& recipe) { return recipe.error.has_value(); };
    if (only.empty() || std::any_of(graph.recipes.begin(), graph.recipes.end(), unread)) return;
    auto& first = graph.recipes.front();
    first.error = Error{ErrorKind::NotFound,
                        fmt::format("{}: does not build {}{}",
                                    first.file.native(),
                                    fmt::join(only, ", "),
                                    made.empty() ? "" : "; it builds " + join_some(made, "and")),
                        {},
                        {}};
}

}  // namespace

std::string full_name(const RenderedOutput& output) {
    return output.subdir + "/" + output.distribution();
}

BuildGraph BuildGraph::of(const std::vector<fs::path>& files, const BuildOptions& options) {
    BuildGraph graph;
    std::set<fs::path> seen;
    for (const auto& file : files) {
        std::error_code code;
        const auto real = fs::weakly_canonical(file, code);
        if (!seen.insert(code ? file : real).second) continue;  // named twice
        auto& entry = graph.recipes.emplace_back();
        entry.file = file;
        auto recipe = load_recipe(file);
        if (!recipe) {
            entry.error = std::move(recipe).error();
            continue;
        }
        entry.recipe = *std::move(recipe);
        auto outputs = render_recipe(*entry.recipe, options.render);
        if (!outputs) {
            entry.error = std::move(outputs).error();
            continue;
        }
        for (auto& output : *outputs)
            graph.steps.push_back({graph.recipes.size() - 1, std::move(output), {}, {}, {}});
    }
    choose(graph, options.only);
    refuse_twins(graph);
    const Connector connector(graph.steps);
    for (auto& step : graph.steps) connector.connect(step);
    return graph;
}

std::set<std::string> BuildGraph::claimed_names() const {
    std::set<std::string> names;
    for (const auto& step : steps) {
        for (const auto* at = &step.output; at != nullptr; at = at->inherited.get())
            names.insert(build_name(recipe_of(step), *at));
    }
    return names;
}

std::vector<fs::path> BuildGraph::skipped() const {
    std::set<std::size_t> built;
    for (const auto& step : steps) built.insert(step.recipe);
    std::vector<fs::path> files;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        if (!recipes[i].error && !built.contains(i)) files.push_back(recipes[i].file);
    }
    return files;
}

std::vector<std::size_t> BuildGraph::circle() const {
    // Whatever can be done is taken away until nothing more can.
    std::vector<bool> done(steps.size());
    for (bool again = true; again;) {
        again = false;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto& after = steps[i].after;
            if (done[i] ||
                !std::all_of(after.begin(), after.end(), [&](auto j) { return done[j]; }))
                continue;
            done[i] = true;
            again = true;
        }
    }
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!done[i]) left.push_back(i);
    }
    return left;
}

}  // namespace gpkg
