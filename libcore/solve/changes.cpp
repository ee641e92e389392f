#include "libcore/hardware/asked_spec.hpp"
#include "libcore/solve/solve.hpp"

#include <algorithm>

namespace gpkg {
namespace {

void set_machine(Problem& problem, const ProblemChange& change) {
    PackageRecord record;
    record.name = change.name;
    record.version = change.version;
    record.build = change.build;
    auto& packages = problem.virtual_packages;
    const auto found = std::find_if(
        packages.begin(), packages.end(), [&](const auto& one) { return one.name == change.name; });
    if (found == packages.end()) {
        packages.push_back(std::move(record));
    } else {
        *found = std::move(record);
    }
}

void set_accelerator(Accelerators& accelerators, const std::string& name) {
    accelerators.of_package[name] = AcceleratorChoice::Auto;
    accelerators.asked_packages.insert(name);
}

/// As a constraint: where the spec stands among those that are asked for is not for the change to
/// say.
Result<void> let_change(Request& request, const ProblemChange& change) {
    GPKG_TRY(auto asked, AskedSpec::parse(change.spec));
    if (asked.accelerator) {
        request.accelerators.of_package[asked.spec.name] = *asked.accelerator;
        request.accelerators.asked_packages.insert(asked.spec.name);
    }
    request.constraints.push_back({std::move(asked.spec), "is to change"});
    return {};
}

template <typename T>
void erase_places(std::vector<T>& list, std::vector<std::size_t> places) {
    std::sort(places.rbegin(), places.rend());
    for (const auto place : places) list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
}

}  // namespace

Result<Problem> with_changes(Problem problem, const std::vector<ProblemChange>& changes) {
    std::vector<std::size_t> specs;
    std::vector<std::size_t> constraints;
    for (const auto& change : changes) {
        switch (change.kind) {
        case ProblemChange::Kind::ReplaceSpec: {
            GPKG_TRY(problem.request.specs.at(change.index), MatchSpec::parse(change.spec));
            break;
        }
        case ProblemChange::Kind::DropSpec: specs.push_back(change.index); break;
        case ProblemChange::Kind::DropConstraint: constraints.push_back(change.index); break;
        case ProblemChange::Kind::SetPriority: problem.priority = ChannelPriority::Flexible; break;
        case ProblemChange::Kind::AllowNewer: problem.exclude_newer.reset(); break;
        case ProblemChange::Kind::SetMachine: set_machine(problem, change); break;
        case ProblemChange::Kind::LetChange: GPKG_CHECK(let_change(problem.request, change)); break;
        case ProblemChange::Kind::SetAccelerator:
            set_accelerator(problem.request.accelerators, change.name);
            break;
        }
    }
    // Only now, so that every index means what it meant in the problem as it was.
    erase_places(problem.request.specs, std::move(specs));
    erase_places(problem.request.constraints, std::move(constraints));
    return problem;
}

}  // namespace gpkg
