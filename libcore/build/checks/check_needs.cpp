#include "libcore/build/checks/check_needs.hpp"

#include "libcore/build/checks/unmet_needs.hpp"
#include "libcore/build/publishing.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

Result<void> check_needs_of(BuiltPackage& package, ChannelLibraries& libraries) {
    GPKG_TRY(const auto findings, libraries.unmet_needs(package));
    for (const auto& finding : findings) {
        if (!finding.is_error)
            package.warnings.push_back(fmt::format("{}; {}", finding.message, finding.hint));
    }
    auto refused = refuse(findings);
    if (refused) return {};
    auto error = std::move(refused).error();
    error.message =
        fmt::format("{}: missing run dependencies:\n{}", package.distribution, error.message);
    return pass(std::move(error));
}

}  // namespace

std::map<std::size_t, Error> check_needs(const std::vector<BuiltPackage*>& packages,
                                         const BuildOptions& options) {
    std::vector<fs::path> made;
    for (const auto* package : packages) {
        if (!package->is_published) made.push_back(package->file);
    }
    std::map<std::size_t, Error> faults;
    ChannelLibraries libraries(options.channel, std::move(made));
    for (std::size_t i = 0; i < packages.size(); ++i) {
        auto checked = check_needs_of(*packages[i], libraries);
        if (!checked) faults.emplace(i, std::move(checked).error());
    }
    // All are looked at before any of them is put aside.
    const Publisher publisher(options.channel, options.work);
    for (auto& [i, error] : faults) {
        const auto place = publisher.withhold(*packages[i]);
        error.hint = place ? *place : place.error().to_string();
    }
    return faults;
}

}  // namespace gpkg
