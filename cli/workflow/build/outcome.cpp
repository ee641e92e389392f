#include "cli/workflow/build/outcome.hpp"

#include "cli/workflow/build/closure_gate.hpp"
#include "cli/workflow/signing.hpp"

#include <fmt/format.h>
#include <iterator>

namespace gpkg::cli {

bool BuildOutcome::is_success() const {
    return built.failures.empty() && failed_tests.empty() && too_heavy.empty() &&
           differences.empty();
}

std::set<std::string> BuildOutcome::withheld() const {
    std::set<std::string> names;
    for (const auto* failed : {&failed_tests, &too_heavy}) {
        for (const auto& failure : *failed) names.insert(failure.distribution);
    }
    return names;
}

std::vector<BuiltPackage> BuildOutcome::good() const {
    const auto gone = withheld();
    std::vector<BuiltPackage> packages;
    for (const auto& package : built.packages) {
        if (!gone.contains(package.distribution)) packages.push_back(package);
    }
    return packages;
}

Result<void> judge(Context& context,
                   const Gates& gates,
                   BuildSources& sources,
                   const Publisher& publisher,
                   BuildOutcome& outcome) {
    const auto& packages = outcome.built.packages;
    if (gates.tests) {
        GPKG_TRY(outcome.failed_tests, test_packages(context, sources, packages, publisher));
    }
    if (gates.closure) {
        GPKG_TRY(outcome.too_heavy,
                 check_closures(context, sources, outcome.good(), *gates.closure, publisher));
    }
    auto gone = outcome.withheld();
    for (const auto& failure : outcome.built.failures) gone.insert(failure.distribution);
    GPKG_TRY(auto heirs, withhold_heirs(packages, gone, publisher));
    std::move(heirs.begin(), heirs.end(), std::back_inserter(outcome.failed_tests));
    return check_stop(context);
}

Result<void> publish(Context& context,
                     const Publisher& publisher,
                     const IndexerOptions& indexing,
                     BuildOutcome& outcome) {
    const auto gone = outcome.withheld();
    for (auto& package : outcome.built.packages) {
        if (gone.contains(package.distribution)) continue;
        GPKG_TRY(const auto published, publisher.publish(package));
        outcome.identical += published == Published::Same ? 1 : 0;
        if (published == Published::Same)
            context.out.note(
                fmt::format("{}: identical to the published package", package.distribution));
        if (published == Published::Changed)
            context.out.warn(
                fmt::format("replaces the published {} with other contents; raise build.number",
                            package.distribution));
    }
    GPKG_TRY(const auto indexed, index_channel(outcome.channel, indexing));
    report_signature(context, indexed);
    for (const auto& package : indexed.refused)
        context.out.warn(
            fmt::format("{}: not in the index: {}", package.file.native(), package.reason));
    for (const auto& package : indexed.odd)
        context.out.warn(fmt::format("{}: {}", package.file.native(), package.reason));
    return {};
}

}  // namespace gpkg::cli
