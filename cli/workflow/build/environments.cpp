#include "cli/workflow/build/environments.hpp"

#include "cli/workflow/build/trial.hpp"
#include "libcore/package/info.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

Result<std::vector<EnvironmentPackage>> make_environment(Context& context,
                                                         BuildSources& sources,
                                                         SolvedTrial solved,
                                                         const fs::path& prefix,
                                                         const fs::path& seen) {
    GPKG_TRY(const auto made, make_trial(context, std::move(solved), prefix, seen));
    std::vector<EnvironmentPackage> packages;
    for (std::size_t i = 0; i < made.records.size(); ++i) {
        const auto& record = made.records[i];
        GPKG_TRY(auto exports, sources.run_exports_of(record, made.unpacked[i]));
        packages.push_back({record.name,
                            record.version,
                            record.build,
                            std::move(exports),
                            record.subdir,
                            record.sha256});
    }
    return packages;
}

}  // namespace

Result<SolvedEnvironment> solve_environment(Context& context,
                                            BuildSources& sources,
                                            const std::vector<std::string>& specs) {
    GPKG_TRY(auto solved, sources.solve(specs));
    SolvedEnvironment environment;
    environment.packages.reserve(solved.records.size());
    for (const auto& record : solved.records) {
        // Without a sum, where it comes from is all there is to tell it by.
        const auto identity = record.sha256.empty() ? record.url + " " + record.md5 : record.sha256;
        environment.packages.push_back(fmt::format(
            "{}/{}-{}-{} {}", record.subdir, record.name, record.version, record.build, identity));
    }
    std::sort(environment.packages.begin(), environment.packages.end());
    environment.make = [&context, &sources, solved = std::move(solved)](const fs::path& prefix,
                                                                        const fs::path& seen) {
        return make_environment(context, sources, solved, prefix, seen);
    };
    return environment;
}

}  // namespace gpkg::cli
