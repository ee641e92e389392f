#include "libcore/build/environments.hpp"

#include "libcore/build/build_place.hpp"
#include "libcore/build/run_exports.hpp"
#include "libcore/recipe/pin.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

Result<std::vector<EnvironmentPackage>> make(const std::vector<std::string>& specs,
                                             const fs::path& prefix,
                                             const fs::path& seen,
                                             const SolveEnvironment& solve,
                                             std::vector<EnvironmentUse>& uses) {
    GPKG_TRY(const auto solved, solve(specs));
    GPKG_TRY(auto packages, solved.make(prefix, seen));
    uses.push_back({specs, solved.packages});
    return packages;
}

Result<void> refuse_open_pins(const RenderedOutput& output, const std::vector<std::string>& specs) {
    for (const auto& spec : specs) {
        if (is_open_pin(spec))
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: {} is not allowed in build or host requirements",
                                    output.distribution(),
                                    spec),
                        "use pin_compatible() in run, run_constraints and run_exports");
    }
    return {};
}

}  // namespace

Result<BuildEnvironments> make_environments(const RenderedOutput& output,
                                            const SolveEnvironment& solve,
                                            const BuildPlace& place) {
    BuildEnvironments made;
    made.requirements = output.requirements;
    auto build_specs = output.requirements.build;
    auto host = output.requirements.host;
    if (output.build.merge_build_and_host) {
        host.insert(host.begin(), build_specs.begin(), build_specs.end());
        build_specs.clear();
    }
    GPKG_CHECK(refuse_open_pins(output, build_specs));
    GPKG_CHECK(refuse_open_pins(output, host));
    if (build_specs.empty() && host.empty()) return made;
    if (!solve)
        return fail(
            ErrorKind::Unsupported,
            fmt::format("{}: the build needs an environment with {}, which cannot be created "
                        "here",
                        output.distribution(),
                        build_specs.empty() ? host.front() : build_specs.front()));
    if (!build_specs.empty()) {
        GPKG_TRY(made.build,
                 make(build_specs, place.build_prefix, place.seen.build_prefix, solve, made.uses));
        add_strong_exports(output.requirements, made.build, host);
    }
    if (!host.empty()) {
        GPKG_TRY(made.host, make(host, place.prefix, place.seen.prefix, solve, made.uses));
    }
    return made;
}

}  // namespace gpkg
