#include "cli/workflow/lock/regions.hpp"

#include "cli/workflow/ask/answer.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/lock/class_fit.hpp"
#include "libcore/lock/class_needs.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpkg::cli {
namespace {

/// What the records that a request can reach ask of machines.
class ReachedSpecs {
public:
    explicit ReachedSpecs(const Problem& problem) : problem_(problem) {
        for (const auto& index : problem.indexes) seen_.emplace_back(index->spec_count(), false);
    }

    Result<MachineSpecs> run() && {
        for (const auto& spec : problem_.request.specs) {
            specs_.take_dependency(spec.to_string());
            reach(spec.name);
        }
        for (const auto& constraint : problem_.request.constraints)
            specs_.take_constraint(constraint.spec.to_string());
        while (!open_.empty()) {
            const auto name = std::move(open_.front());
            open_.pop_front();
            for (std::size_t i = 0; i < seen_.size(); ++i) GPKG_CHECK(look(i, name));
        }
        return std::move(specs_);
    }

private:
    void reach(std::string name) {
        if (name.empty() || name.starts_with("__")) return;
        if (reached_.insert(name).second) open_.push_back(std::move(name));
    }

    Result<void> look(std::size_t place, const std::string& name) {
        const auto& index = *problem_.indexes[place];
        if (!index.has(name)) return {};
        GPKG_TRY(const auto records, index.find(name));
        for (const auto* row : records.choices(problem_.exclude_newer)) {
            specs_.take_build(records.build(*row));
            for (const auto number : records.specs(row->depends)) GPKG_CHECK(depend(place, number));
            for (const auto& extra : records.extras(row->extras)) {
                for (const auto number : records.specs(extra.specs))
                    GPKG_CHECK(depend(place, number));
            }
            for (const auto number : records.specs(row->constrains)) {
                GPKG_TRY(const auto text, index.spec(number));
                specs_.take_constraint(text);
            }
        }
        return {};
    }

    Result<void> depend(std::size_t place, ChannelIndex::SpecNumber number) {
        if (seen_[place][number]) return {};
        seen_[place][number] = true;
        GPKG_TRY(const auto text, problem_.indexes[place]->spec(number));
        if (!specs_.take_dependency(text)) reach(name_in_spec(text));
        return {};
    }

    const Problem& problem_;
    std::vector<std::vector<bool>> seen_;  ///< by index, then by the number of a spec
    MachineSpecs specs_;
    std::set<std::string> reached_;
    std::deque<std::string> open_;
};

std::vector<PackageRecord> bare_machine(const std::string& platform) {
    virtual_packages::HardwareProfile profile;
    profile.platform = platform;
    const auto no_overrides = [](std::string_view) { return std::optional<std::string>(); };
    return virtual_packages::virtual_packages_of(profile, platform, no_overrides).records();
}

std::vector<std::string> urls_of(const Solution& solution) {
    std::vector<std::string> urls;
    for (const auto& record : solution.records) urls.push_back(record.url);
    std::sort(urls.begin(), urls.end());
    return urls;
}

std::string gpu_of(const Region& region) {
    for (const auto& record : region.solution.records) {
        const auto of = accelerator_of(record).accelerator;
        if (of == Accelerator::Nvidia) return "cuda";
        if (of == Accelerator::Amd) return "rocm";
    }
    return "cpu";
}

/// "glibc2.28" for "__glibc >=2.28,<3.0.a0", "x86_64_v3" for "__archspec 1 x86_64_v3".
std::string short_name(const std::string& need) {
    const auto spec = MatchSpec::parse(need);
    if (!spec) return {};
    std::string text;
    if (spec->name != "__archspec") text = spec->name.substr(2);
    if (spec->build) {
        text += text.empty() ? "" : "-";
        text += spec->build->text();
    } else if (spec->version) {
        const auto literals = spec->version->literals();
        if (!literals.empty()) text += literals.front().to_string();
    }
    std::erase_if(text, [](char c) {
        return std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
                   .find(c) == std::string_view::npos;
    });
    return text.substr(0, 40);
}

/// Each is named for its GPU and for the needs that not all others of that GPU have.
void name_regions(std::vector<Region>& regions) {
    std::map<std::string, std::vector<Region*>> by_gpu;
    for (auto& region : regions) by_gpu[gpu_of(region)].push_back(&region);
    std::set<std::string> taken;
    for (const auto& [gpu, of_gpu] : by_gpu) {
        std::map<std::string, std::size_t> count;
        for (const auto* region : of_gpu) {
            for (const auto& need : region->needs) ++count[need];
        }
        for (auto* region : of_gpu) {
            auto name = gpu;
            for (const auto& need : region->needs) {
                const auto part = count[need] == of_gpu.size() ? std::string() : short_name(need);
                if (part.starts_with(name)) {
                    name = part;  // "cuda12" says that it is for CUDA
                } else if (!part.empty()) {
                    name += "-" + part;
                }
            }
            auto unique = name;
            for (int number = 2; !taken.insert(unique).second; ++number)
                unique = fmt::format("{}-{}", name, number);
            region->name = unique;
        }
    }
}

/// The region whose answer is known to be that of the point; null where none is.
Region* region_of(Regions& found, std::size_t point) {
    for (auto& region : found.regions) {
        for (const auto solved : region.solved) {
            if (found.space.carries_over(region.solution.records, solved, point)) return &region;
        }
    }
    return nullptr;
}

/// nvidia and amd demand builds where there are any, and so less where there are none.
bool is_hopeless(const HardwareSpace& space,
                 const std::vector<std::size_t>& hopeless,
                 const Accelerators& accelerators,
                 std::size_t point) {
    if (accelerators.all == AcceleratorChoice::Nvidia ||
        accelerators.all == AcceleratorChoice::Amd || !accelerators.of_package.empty())
        return false;
    return std::any_of(hopeless.begin(), hopeless.end(), [&](std::size_t solved) {
        return space.has_fewer_records(solved, point);
    });
}

/// Tells the classes of the machines that by one machine of each alone would take another.
void lead_all(const Regions& regions, LockFile& lock) {
    for (std::size_t more = 1; more > 0;) {
        more = 0;
        for (const auto point : points_that_take_another(regions, lock)) {
            auto machine = locked_machine(regions.space.points()[point].virtual_packages);
            for (std::size_t i = 0; i < regions.regions.size(); ++i) {
                const auto& points = regions.regions[i].points;
                auto& known = lock.classes[i].also_made_for;
                if (std::ranges::find(points, point) == points.end() ||
                    std::ranges::find(known, machine) != known.end())
                    continue;
                known.push_back(std::move(machine));
                ++more;
                break;
            }
        }
    }
}

}  // namespace

Result<Regions> decision_regions(Context& context, Question question) {
    auto& problem = question.problem;
    problem.wants_fixes = false;
    GPKG_TRY(const auto specs, ReachedSpecs(problem).run());
    const auto base = bare_machine(question.machine.platform);
    GPKG_TRY(auto space, HardwareSpace::make(specs, base));
    Regions found{std::move(space), {}, {}, 0};
    std::map<std::vector<std::string>, std::size_t> places;  // by the answer's URLs
    std::vector<std::size_t> hopeless;                       // points that were solved for nothing
    for (std::size_t point = 0; point < found.space.points().size(); ++point) {
        if (auto* region = region_of(found, point)) {
            region->points.push_back(point);
            continue;
        }
        if (is_hopeless(found.space, hopeless, problem.request.accelerators, point)) {
            found.unsatisfiable.push_back(point);
            continue;
        }
        problem.virtual_packages = found.space.points()[point].virtual_packages;
        GPKG_TRY(auto outcome, answer_to(question));
        GPKG_CHECK(check_stop(context));
        ++found.solves;
        auto* solution = std::get_if<Solution>(&outcome);
        if (solution == nullptr) {
            found.unsatisfiable.push_back(point);
            hopeless.push_back(point);
            continue;
        }
        const auto [place, is_new] = places.emplace(urls_of(*solution), found.regions.size());
        if (is_new) found.regions.push_back({{}, {}, {}, std::move(*solution), {}});
        found.regions[place->second].points.push_back(point);
        found.regions[place->second].solved.push_back(point);
    }
    for (auto& region : found.regions) region.needs = needs_of(problem.request, region.solution);
    name_regions(found.regions);
    return found;
}

Result<LockFile> lock_of(const Regions& regions, const Question& question, LockRequest request) {
    std::vector<ClassQuestion> classes;
    std::vector<Solution> answers;
    for (const auto& region : regions.regions) {
        ClassQuestion one{region.name, question};
        one.question.problem.virtual_packages =
            regions.space.points()[region.points.front()].virtual_packages;
        classes.push_back(std::move(one));
        answers.push_back(region.solution);
    }
    GPKG_TRY(auto lock, lock_of(classes, answers));
    lock.request = std::move(request);
    lead_all(regions, lock);
    return lock;
}

std::vector<std::size_t> points_that_take_another(const Regions& regions, const LockFile& lock) {
    std::vector<std::size_t> points;
    for (const auto& region : regions.regions) {
        for (const auto point : region.points) {
            const auto& machine = regions.space.points()[point].virtual_packages;
            const auto fits = fits_of(lock, lock.classes.front().platform, machine);
            if (fits.front().locked->name != region.name) points.push_back(point);
        }
    }
    return points;
}

}  // namespace gpkg::cli
