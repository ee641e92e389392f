#include "libcore/build/environments.hpp"

#include "libcore/build/build_place.hpp"
#include "libcore/build/run_exports.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/recipe/pin.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// "/r/recipe.yaml:29:7: ", if the recipe itself asks for the missing package.
std::string place_of_missing(const Error& error, const SpecPlaces& places) {
    for (const auto& [spec, place] : places.by_spec) {
        if (error.is_about_unknown(spec.substr(0, spec.find_first_of(" =<>!~["))))
            return place + ": ";
    }
    return {};
}

/// The recipe says compiler("c"), and no channel has gcc_linux-64.
Error with_compiler_hint(Error error) {
    struct Compiler {
        std::string_view package;
        std::string_view language;
        std::string_view program;
    };
    static constexpr auto kCompilers = std::to_array<Compiler>(
        {{"gcc_", "c", "cc"}, {"gxx_", "cxx", "c++"}, {"gfortran_", "fortran", "gfortran"}});
    for (const auto& compiler : kCompilers) {
        const auto is_it = [&](const std::string& name) {
            return name.starts_with(compiler.package);
        };
        const auto name = std::ranges::find_if(error.unknown_packages, is_it);
        if (name == error.unknown_packages.end()) continue;
        error.hint = fmt::format(
            "{} comes from ${{{{ compiler(\"{}\") }}}}; add a channel with compilers (-c "
            "conda-forge), or remove the line and write {} in the script",
            *name,
            compiler.language,
            compiler.program);
    }
    return error;
}

Result<std::vector<EnvironmentPackage>> make(const std::vector<std::string>& specs,
                                             const fs::path& prefix,
                                             const fs::path& seen,
                                             const SolveEnvironment& solve,
                                             const std::string& section,
                                             const SpecPlaces& places,
                                             std::vector<EnvironmentUse>& uses) {
    const auto solved = solve(specs);
    if (!solved)
        return pass(with_compiler_hint(solved.error())
                        .while_doing(place_of_missing(solved.error(), places) + section));
    GPKG_TRY(auto packages, solved->make(prefix, seen));
    uses.push_back({specs, solved->packages});
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
                 make(build_specs,
                      place.build_prefix,
                      place.seen.build_prefix,
                      solve,
                      "requirements.build",
                      made.requirements.build_places,
                      made.uses));
        add_strong_exports(output.requirements, made.build, host);
    }
    if (!host.empty()) {
        GPKG_TRY(made.host,
                 make(host,
                      place.prefix,
                      place.seen.prefix,
                      solve,
                      "requirements.host",
                      made.requirements.host_places,
                      made.uses));
    }
    return made;
}

Result<void> check_run_names(const RenderedOutput& output,
                             const std::set<std::string>& outputs,
                             const SolveEnvironment& solve) {
    std::vector<std::string> names;
    for (const auto& spec : output.requirements.run) {
        if (is_open_pin(spec)) continue;
        const std::string name(dependency_name(spec));
        if (!name.starts_with("__") && !outputs.contains(name)) names.push_back(name);
    }
    if (names.empty() || !solve) return {};
    const auto solved = solve(names);
    if (solved ||
        (solved.error().unknown_packages.empty() && solved.error().kind != ErrorKind::Interrupted))
        return {};
    auto error = solved.error();
    const auto place = place_of_missing(error, output.requirements.run_places);
    return pass(std::move(error).while_doing(place + "requirements.run"));
}

}  // namespace gpkg
