#include "libcore/classes/regions.hpp"

#include "libcore/classes/class_fit.hpp"
#include "libcore/classes/reached_specs.hpp"
#include "libcore/classes/region_names.hpp"
#include "libcore/solve/answer.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stop_token>

namespace gpkg {
namespace {

/// The region whose answer is known to be that of the point; null where none is.
Region* region_of(Regions& found, std::size_t point) {
    for (auto& region : found.regions) {
        for (const auto solved : region.solved) {
            if (found.space.carries_over(region.says, solved, point)) return &region;
        }
    }
    return nullptr;
}

/// nvidia and amd demand builds where there are any, and so less where there are none.
bool is_hopeless(const HardwareSpace& space,
                 const std::vector<std::size_t>& hopeless,
                 const Accelerators& accelerators,
                 std::size_t point) {
    const auto demands = [](AcceleratorChoice choice) { return vendor_of(choice).has_value(); };
    if (std::ranges::any_of(accelerators.in_turn, demands) || !accelerators.of_package.empty())
        return false;
    return std::any_of(hopeless.begin(), hopeless.end(), [&](std::size_t solved) {
        return space.has_fewer_records(solved, point);
    });
}

/// Of machines, those that have more than no other: what has more than one of them mostly takes the
/// class that this one is told to be for.
std::vector<std::size_t> least_of(const std::vector<std::size_t>& points,
                                  const HardwareSpace& space) {
    const auto has_more = [&](std::size_t point, std::size_t than) {
        const auto& cells = space.points()[point].cells;
        return point != than &&
               std::ranges::equal(cells, space.points()[than].cells, std::greater_equal<>());
    };
    std::vector<std::size_t> least;
    for (const auto point : points) {
        if (std::ranges::none_of(points, [&](auto other) { return has_more(point, other); }))
            least.push_back(point);
    }
    return least;
}

/// Tells the classes of machines that by one machine of each alone would take another, until none
/// does, or until that is no help.
Result<void> lead_all(const Regions& regions, const std::stop_token& stop, LockFile& lock) {
    for (bool has_told = true; has_told;) {
        if (stop.stop_requested()) return fail(ErrorKind::Interrupted, "interrupted");
        has_told = false;
        const auto misled = points_that_take_another(regions, lock);
        for (std::size_t i = 0; i < regions.regions.size(); ++i) {
            auto& known = lock.classes[i].also_made_for;
            std::vector<std::size_t> own;
            for (const auto point : misled) {
                const auto& points = regions.regions[i].points;
                if (std::ranges::find(points, point) == points.end()) continue;
                const auto machine = locked_machine(regions.space.points()[point].virtual_packages);
                if (std::ranges::find(known, machine) == known.end()) own.push_back(point);
            }
            for (const auto point : least_of(own, regions.space)) {
                known.push_back(locked_machine(regions.space.points()[point].virtual_packages));
                has_told = true;
            }
        }
    }
    return {};
}

}  // namespace

Result<Regions> decision_regions(Problem problem,
                                 const std::vector<PackageRecord>& least,
                                 const Solve& solve,
                                 const RegionsProgress& progress) {
    problem.wants_reasons = false;
    problem.wants_notes = false;
    GPKG_TRY(const auto specs, reached_specs(problem));
    GPKG_TRY(auto space, HardwareSpace::make(specs, least));
    Regions found{std::move(space), {}, {}, 0};
    std::map<std::vector<std::string>, std::size_t> places;  // by the answer's URLs
    std::vector<std::size_t> hopeless;                       // points that were solved for nothing
    for (std::size_t point = 0; point < found.space.points().size(); ++point) {
        progress(point, found.space.points().size());
        if (auto* region = region_of(found, point)) {
            region->points.push_back(point);
            continue;
        }
        if (is_hopeless(found.space, hopeless, problem.request.accelerators, point)) {
            found.unsatisfiable.push_back(point);
            continue;
        }
        problem.virtual_packages = found.space.points()[point].virtual_packages;
        GPKG_TRY(auto answered, answer(problem, solve));
        ++found.solves;
        auto* solution = std::get_if<Solution>(&answered.outcome);
        if (solution == nullptr) {
            found.unsatisfiable.push_back(point);
            hopeless.push_back(point);
            continue;
        }
        const auto [place, is_new] = places.emplace(urls_of(*solution), found.regions.size());
        if (is_new) {
            auto says = machine_specs_of(solution->records);
            found.regions.push_back({{}, {}, {}, std::move(*solution), std::move(says), {}});
        }
        auto& region = found.regions[place->second];
        region.points.push_back(point);
        region.solved.push_back(point);
    }
    for (auto& region : found.regions) region.needs = needs_of(problem.request, region.solution);
    name_regions(found.regions, problem.request);
    return found;
}

Result<LockFile> lock_of_regions(const Regions& regions, const ClassProblem& like) {
    std::vector<ClassProblem> classes;
    std::vector<Solution> answers;
    for (const auto& region : regions.regions) {
        auto& one = classes.emplace_back(like);
        one.name = region.name;
        one.problem.virtual_packages =
            regions.space.points()[region.points.front()].virtual_packages;
        answers.push_back(region.solution);
    }
    GPKG_TRY(auto lock, lock_of_answers(classes, answers));
    GPKG_CHECK(lead_all(regions, like.problem.stop, lock));
    return lock;
}

std::vector<std::size_t> points_that_take_another(const Regions& regions, const LockFile& lock) {
    std::vector<std::size_t> points;
    const ClassesOfLock classes(lock);
    for (const auto& region : regions.regions) {
        for (const auto point : region.points) {
            const auto& machine = regions.space.points()[point].virtual_packages;
            const auto fits = classes.fits(lock.classes.front().platform, machine);
            if (fits.front().locked->name != region.name) points.push_back(point);
        }
    }
    return points;
}

}  // namespace gpkg
