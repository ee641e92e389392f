#include "libcore/build/run_exports.hpp"

#include "libcore/recipe/dependency.hpp"
#include "libcore/recipe/pin.hpp"

#include <algorithm>
#include <optional>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;
using Packages = std::vector<EnvironmentPackage>;

bool has(const Texts& texts, std::string_view text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool names(const Texts& specs, const std::string& name) {
    return std::any_of(specs.begin(), specs.end(), [&](const auto& spec) {
        return dependency_name(spec) == name;
    });
}

/// Adds exported specs, less those that any of the requirements ignores.
class Collector {
public:
    explicit Collector(std::vector<const RecipeRequirements*> ignoring)
        : ignoring_(std::move(ignoring)) {}

    /// Exports count only of packages that the recipe itself names in `specs`.
    template <typename Take>
    void each(const Packages& packages, const Texts& specs, Take take) const {
        for (const auto& package : packages) {
            if (names(specs, package.name) && !ignores_package(package.name))
                take(package.run_exports);
        }
    }

    void add(const Texts& from, Texts& to) const {
        for (const auto& spec : from) {
            if (!ignores_name(dependency_name(spec)) && !has(to, spec)) to.push_back(spec);
        }
    }

private:
    bool ignores_package(std::string_view name) const {
        return std::any_of(ignoring_.begin(), ignoring_.end(), [&](const auto* each) {
            return has(each->ignore_run_exports_from_package, name);
        });
    }
    bool ignores_name(std::string_view name) const {
        return std::any_of(ignoring_.begin(), ignoring_.end(), [&](const auto* each) {
            return has(each->ignore_run_exports_by_name, name);
        });
    }

    std::vector<const RecipeRequirements*> ignoring_;
};

void add_exports(const Collector& collector,
                 const BuildEnvironments& from,
                 bool noarch,
                 RunDependencies& run) {
    const auto& asked = from.requirements;
    collector.each(from.build, asked.build, [&](const RunExports& exports) {
        if (noarch) return;
        collector.add(exports.strong, run.depends);
        collector.add(exports.strong_constrains, run.constrains);
    });
    const auto take_host = [&](const RunExports& exports) {
        if (noarch) {
            collector.add(exports.noarch, run.depends);
            return;
        }
        collector.add(exports.weak, run.depends);
        collector.add(exports.strong, run.depends);
        collector.add(exports.weak_constrains, run.constrains);
        collector.add(exports.strong_constrains, run.constrains);
    };
    collector.each(from.host, asked.host, take_host);
}

std::optional<PinnedPackage> find_package(const Packages& packages, const std::string& name) {
    for (const auto& package : packages) {
        if (package.name == name) return PinnedPackage{package.version, package.build};
    }
    return std::nullopt;
}

std::optional<PinnedPackage> find_package(const BuildEnvironments& made, const std::string& name) {
    if (auto found = find_package(made.host, name)) return found;
    return find_package(made.build, name);
}

}  // namespace

void add_strong_exports(const RecipeRequirements& requirements,
                        const Packages& build,
                        Texts& host) {
    const Collector collector({&requirements});
    collector.each(build, requirements.build, [&](const RunExports& exports) {
        collector.add(exports.strong, host);
    });
}

RunDependencies run_dependencies(const BuildEnvironments& own,
                                 bool noarch,
                                 const std::vector<BuildEnvironments>& inherited) {
    RunDependencies run{own.requirements.run, own.requirements.run_constraints};
    add_exports(Collector({&own.requirements}), own, noarch, run);
    for (const auto& from : inherited)
        add_exports(Collector({&own.requirements, &from.requirements}), from, noarch, run);
    return run;
}

Result<void> close_pins(RecipeRequirements& requirements,
                        const BuildEnvironments& own,
                        const std::vector<BuildEnvironments>& inherited) {
    const auto find = [&](const std::string& name) {
        auto found = find_package(own, name);
        for (auto at = inherited.rbegin(); !found && at != inherited.rend(); ++at)
            found = find_package(*at, name);
        return found;
    };
    const auto close = [&](Texts& specs) -> Result<void> {
        for (auto& spec : specs) {
            if (!is_open_pin(spec)) continue;
            GPKG_TRY(spec, close_pin(spec, find));
        }
        return {};
    };
    auto& exports = requirements.run_exports;
    for (auto* specs : {&requirements.run,
                        &requirements.run_constraints,
                        &exports.weak,
                        &exports.strong,
                        &exports.noarch,
                        &exports.weak_constrains,
                        &exports.strong_constrains})
        GPKG_CHECK(close(*specs));
    for (auto& [group, specs] : requirements.extras) GPKG_CHECK(close(specs));
    return {};
}

}  // namespace gpkg
