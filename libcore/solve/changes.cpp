#include "libcore/base/erase_places.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/solve/solve.hpp"

#include <algorithm>
#include <iterator>
#include <set>

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

void ask_for(Accelerators& accelerators, const std::string& name, AcceleratorChoice choice) {
    accelerators.of_package[name] = choice;
    accelerators.asked_packages.insert(name);
}

/// What was said of a misspelled name is meant of the right one.
void rename(Accelerators& accelerators, const std::string& before, const std::string& after) {
    if (before == after) return;
    if (auto said = accelerators.of_package.extract(before)) {
        said.key() = after;
        accelerators.of_package.insert(std::move(said));
    }
    if (accelerators.asked_packages.erase(before) > 0) accelerators.asked_packages.insert(after);
}

/// As a constraint: where the spec stands among those that are asked for is not for the change to
/// say.
Result<void> let_change(Request& request, const ProblemChange& change) {
    GPKG_TRY(auto asked, AskedSpec::parse(change.spec));
    if (asked.accelerator) ask_for(request.accelerators, asked.spec.name, *asked.accelerator);
    request.constraints.push_back({std::move(asked.spec), "is requested to change"});
    return {};
}

}  // namespace

std::set<std::size_t> lifted_by(const ProblemChange& change, const Request& request) {
    using Kind = ProblemChange::Kind;
    if (change.kind == Kind::DropConstraint) return {change.index};
    std::set<std::size_t> lifted;
    if (change.kind != Kind::ReplaceSpec) return lifted;
    const auto& constraints = request.constraints;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
        if (constraints[i].holds == Constraint::Holds::UntilNamed &&
            constraints[i].spec.name == request.specs.at(change.index).name)
            lifted.insert(i);
    }
    return lifted;
}

Result<Problem> with_changes(Problem problem, const std::vector<ProblemChange>& changes) {
    std::set<std::size_t> specs;
    std::set<std::size_t> constraints;
    for (const auto& change : changes) {
        switch (change.kind) {
        case ProblemChange::Kind::ReplaceSpec: {
            constraints.merge(lifted_by(change, problem.request));
            auto& spec = problem.request.specs.at(change.index);
            GPKG_TRY(auto asked, AskedSpec::parse(change.spec));
            auto& accelerators = problem.request.accelerators;
            rename(accelerators, spec.name, asked.spec.name);
            if (asked.accelerator) ask_for(accelerators, asked.spec.name, *asked.accelerator);
            spec = std::move(asked.spec);
            break;
        }
        case ProblemChange::Kind::DropSpec: specs.insert(change.index); break;
        case ProblemChange::Kind::DropConstraint:
            constraints.merge(lifted_by(change, problem.request));
            break;
        case ProblemChange::Kind::SetPriority: problem.priority = ChannelPriority::Flexible; break;
        case ProblemChange::Kind::AllowNewer: problem.exclude_newer.reset(); break;
        case ProblemChange::Kind::SetMachine: set_machine(problem, change); break;
        case ProblemChange::Kind::LetChange: GPKG_CHECK(let_change(problem.request, change)); break;
        case ProblemChange::Kind::SetAccelerator:
            ask_for(problem.request.accelerators, change.name, AcceleratorChoice::Auto);
            break;
        }
    }
    auto& named = problem.request.named;
    named -= static_cast<std::size_t>(std::distance(specs.begin(), specs.lower_bound(named)));
    // Only now, so that every index means what it meant in the problem as it was.
    erase_places(problem.request.specs, specs);
    erase_places(problem.request.constraints, constraints);
    return problem;
}

}  // namespace gpkg
