#include "libcore/build/run_exports.hpp"

#include "libcore/build/recipe/dependency.hpp"

#include <algorithm>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

bool has(const Texts& texts, std::string_view text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

class Collector {
public:
    explicit Collector(const RecipeRequirements& requirements) : requirements_(requirements) {}

    /// Exports count only of packages that the recipe itself names in `specs`.
    template <typename Take>
    void each(const std::vector<EnvironmentPackage>& packages,
              const Texts& specs,
              Take take) const {
        for (const auto& package : packages) {
            const bool named = std::any_of(specs.begin(), specs.end(), [&](const auto& spec) {
                return dependency_name(spec) == package.name;
            });
            if (named && !has(requirements_.ignore_run_exports_from_package, package.name))
                take(package.run_exports);
        }
    }

    void add(const Texts& from, Texts& to) const {
        for (const auto& spec : from) {
            const auto ignored =
                has(requirements_.ignore_run_exports_by_name, dependency_name(spec));
            if (!ignored && !has(to, spec)) to.push_back(spec);
        }
    }

private:
    const RecipeRequirements& requirements_;
};

}  // namespace

std::vector<std::string> host_specs(const RecipeRequirements& requirements,
                                    const std::vector<EnvironmentPackage>& build) {
    const Collector collector(requirements);
    auto specs = requirements.host;
    collector.each(build, requirements.build, [&](const RunExports& exports) {
        collector.add(exports.strong, specs);
    });
    return specs;
}

RunDependencies run_dependencies(const RecipeRequirements& requirements,
                                 bool noarch,
                                 const std::vector<EnvironmentPackage>& build,
                                 const std::vector<EnvironmentPackage>& host) {
    const Collector collector(requirements);
    RunDependencies run{requirements.run, requirements.run_constraints};
    collector.each(build, requirements.build, [&](const RunExports& exports) {
        if (noarch) return;
        collector.add(exports.strong, run.depends);
        collector.add(exports.strong_constrains, run.constrains);
    });
    collector.each(host, requirements.host, [&](const RunExports& exports) {
        if (noarch) {
            collector.add(exports.noarch, run.depends);
            return;
        }
        collector.add(exports.weak, run.depends);
        collector.add(exports.strong, run.depends);
        collector.add(exports.weak_constrains, run.constrains);
        collector.add(exports.strong_constrains, run.constrains);
    });
    return run;
}

}  // namespace gpkg
