#include "cli/workflow/build/closure_gate.hpp"

#include "cli/workflow/ask/weighing.hpp"
#include "cli/workflow/build/trial.hpp"
#include "cli/workflow/fetch.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// What is wrong with it, if anything.
Result<std::optional<Error>> closure_fault(BuildSources& sources,
                                           const BuiltPackage& package,
                                           std::uint64_t limit) {
    GPKG_TRY(const auto name, FileName::parse(package.file.filename().native()));
    const auto text = fmt::format("{}=={}={}", name.name, name.version, name.build);
    GPKG_TRY(auto spec, MatchSpec::parse(text));
    GPKG_TRY(auto solved, sources.solve({text}));
    const auto weighed =
        weigh_records(package.distribution, std::move(solved.records), {std::move(spec)});
    auto fault = over_limit(weighed, limit);
    if (!fault) return fault;
    const auto& closure = weighed.closure;
    const auto heaviest = closure.heaviest();
    const auto other = std::find_if(heaviest.begin(), heaviest.end(), [&](auto place) {
        return closure.record(place).name != name.name;
    });
    if (other != heaviest.end())
        fault->hint += fmt::format("; gpkg closure why {} --spec '{}' shows what brings it in",
                                   closure.record(*other).name,
                                   text);
    return fault;
}

}  // namespace

Result<std::vector<FailedPackage>> check_closures(Context& context,
                                                  BuildSources& sources,
                                                  const std::vector<BuiltPackage>& packages,
                                                  std::uint64_t limit,
                                                  const Publisher& publisher) {
    // All are weighed before any of them is put aside.
    std::vector<std::pair<const BuiltPackage*, Error>> faults;
    for (const auto& package : packages) {
        GPKG_CHECK(check_stop(context));
        auto fault = closure_fault(sources, package, limit);
        if (!fault && fault.error().kind == ErrorKind::Interrupted)
            return pass(std::move(fault).error());
        if (!fault)
            faults.emplace_back(&package,
                                std::move(fault).error().while_doing("checking the closure of " +
                                                                     package.distribution));
        else if (*fault)
            faults.emplace_back(&package, **std::move(fault));
    }
    std::vector<FailedPackage> failed;
    for (auto& [package, error] : faults) {
        GPKG_TRY(const auto place, publisher.withhold(*package));
        error.hint += fmt::format("{}{}", error.hint.empty() ? "" : "\n", place);
        failed.push_back({package->distribution, std::move(error)});
    }
    return failed;
}

}  // namespace gpkg::cli
