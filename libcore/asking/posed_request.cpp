#include "libcore/asking/posed_request.hpp"

#include <set>
#include <utility>

namespace gpkg {

Result<void> make_changes(PosedRequest& posed, const std::vector<ProblemChange>& changes) {
    using Kind = ProblemChange::Kind;
    auto& [wanted, present, problem] = posed;
    const auto own = wanted.specs.size();
    const auto pins = present.pins.size();
    std::vector<ProblemChange> outside;
    std::set<std::size_t> dropped;
    std::set<std::size_t> lifted;
    for (const auto& change : changes) {
        const bool is_own = change.index < own;
        if (change.kind == Kind::ReplaceSpec) {
            GPKG_TRY(auto asked, AskedSpec::parse(change.spec));
            auto& of_package = wanted.accelerators.of_package;
            if (asked.accelerator) of_package[asked.spec.name] = *asked.accelerator;
            if (is_own) {
                // What was said of its accelerator goes with it to another name.
                if (auto said = of_package.extract(wanted.specs[change.index].name)) {
                    said.key() = asked.spec.name;
                    of_package.insert(std::move(said));
                }
                wanted.specs[change.index] = std::move(asked.spec);
            } else {
                wanted.specs.push_back(std::move(asked.spec));
            }
        } else if (change.kind == Kind::DropSpec && is_own) {
            dropped.insert(change.index);
        } else if (change.kind == Kind::DropSpec) {
            const auto name = problem.request.specs.at(change.index).name;
            std::erase_if(present.wishes, [&](const auto& wish) { return wish.name == name; });
            std::erase_if(present.records, [&](const auto& one) { return one.name() == name; });
        } else if (change.kind == Kind::DropConstraint && change.index < pins) {
            lifted.insert(change.index);
        } else if (change.kind == Kind::DropConstraint) {
            MatchSpec named;
            named.name = problem.request.constraints.at(change.index).spec.name;
            wanted.specs.push_back(std::move(named));
        } else if (change.kind == Kind::LetChange) {
            GPKG_TRY(auto more, AskedSpec::parse(change.spec));
            if (more.accelerator)
                wanted.accelerators.of_package[more.spec.name] = *more.accelerator;
            wanted.specs.push_back(std::move(more.spec));
        } else if (change.kind == Kind::SetAccelerator) {
            wanted.accelerators.of_package[change.name] = AcceleratorChoice::Auto;
        } else {
            outside.push_back(change);
        }
    }
    // From the back, so that every place means what it meant.
    for (auto place = dropped.rbegin(); place != dropped.rend(); ++place)
        wanted.specs.erase(wanted.specs.begin() + static_cast<std::ptrdiff_t>(*place));
    for (auto place = lifted.rbegin(); place != lifted.rend(); ++place)
        present.pins.erase(present.pins.begin() + static_cast<std::ptrdiff_t>(*place));
    // What an update holds to depends on the machine.
    GPKG_TRY(problem, with_changes(std::move(problem), outside));
    problem.request = request_of(wanted, present, problem.virtual_packages);
    return {};
}

}  // namespace gpkg
