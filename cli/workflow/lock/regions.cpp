#include "cli/workflow/lock/regions.hpp"

#include "cli/workflow/ask/answer.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/lock/class_fit.hpp"
#include "libcore/lock/class_needs.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>
#include <stop_token>

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

std::string_view word_of(Accelerator accelerator) {
    switch (accelerator) {
    case Accelerator::Nvidia: return "cuda";
    case Accelerator::Amd: return "rocm";
    case Accelerator::None: break;
    }
    return "cpu";
}

bool is_asked(const Request& request, const PackageRecord& record) {
    return std::ranges::find(request.specs, record.name, &MatchSpec::name) != request.specs.end();
}

/// What was asked for says what an answer is for, and where it has no such builds, the rest.
std::string_view gpu_of(const Region& region, const Request& request) {
    auto of_rest = Accelerator::None;
    bool has_cpu_builds = false;
    for (const auto& record : region.solution.records) {
        const auto of = accelerator_of(record);
        const bool asked = is_asked(request, record);
        if (of.accelerator == Accelerator::None) {
            has_cpu_builds = has_cpu_builds || (asked && !of.evidence.empty());
        } else if (asked) {
            return word_of(of.accelerator);
        } else if (of_rest == Accelerator::None) {
            of_rest = of.accelerator;
        }
    }
    return word_of(has_cpu_builds ? Accelerator::None : of_rest);
}

bool may_be_in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

/// The first name in a build string that may be a pattern: "x86_64_v4" of
/// "^(x86_64_v4|skylake_avx512)$", where a microarchitecture's level goes before those that have
/// it.
std::string first_name(std::string_view pattern) {
    const auto from = std::ranges::find_if(pattern, may_be_in_name);
    return {from, std::find_if_not(from, pattern.end(), may_be_in_name)};
}

/// "glibc2.28" for "__glibc >=2.28,<3.0.a0", "x86_64_v3" for "__archspec 1 x86_64_v3".
std::string short_name(const std::string& need) {
    const auto spec = MatchSpec::parse(need);
    if (!spec) return {};
    std::string text;
    if (spec->name != "__archspec") text = spec->name.substr(2);
    if (spec->build) {
        text += text.empty() ? "" : "-";
        text += first_name(spec->build->text());
    } else if (spec->version) {
        const auto literals = spec->version->literals();
        if (!literals.empty()) text += literals.front().to_string();
    }
    std::erase_if(text, [](char c) { return !may_be_in_name(c); });
    return text.substr(0, 40);
}

/// "cuda-cudart11.8.89": of what a region holds, what no other that is called like it has in this
/// version, else in this build. What was asked for goes first, then what is for its GPU. Empty
/// where the others have it all.
std::string what_differs(const Region& region,
                         const std::vector<const Region*>& namesakes,
                         const Request& request) {
    const auto others_have = [&](const PackageRecord& record, auto field) {
        return std::ranges::any_of(namesakes, [&](const Region* other) {
            return std::ranges::any_of(other->solution.records, [&](const auto& theirs) {
                return theirs.name == record.name && theirs.*field == record.*field;
            });
        });
    };
    std::string text;
    int best_rank = 0;
    for (const auto& record : region.solution.records) {
        const bool is_for_gpu =
            is_vendor_part(record.name) || !accelerator_of(record).evidence.empty();
        const bool is_version = !others_have(record, &PackageRecord::version);
        int rank = is_asked(request, record) ? 3 : is_for_gpu ? 2 : 1;
        if (is_version) rank += 3;
        if (rank <= best_rank || (!is_version && others_have(record, &PackageRecord::build)))
            continue;
        text = record.name + (is_version ? record.version : "-" + record.build);
        best_rank = rank;
    }
    std::erase_if(text, [](char c) { return !may_be_in_name(c); });
    return text;
}

/// For its GPU and for the needs that not all of `of_gpu`, the regions for that GPU, have.
std::string name_by_needs(const Region& region,
                          std::string_view gpu,
                          const std::vector<Region*>& of_gpu) {
    std::string name(gpu);
    for (const auto& need : region.needs) {
        const bool is_of_all = std::ranges::all_of(of_gpu, [&](const Region* other) {
            return std::ranges::find(other->needs, need) != other->needs.end();
        });
        const auto part = is_of_all ? std::string() : short_name(need);
        if (part.starts_with(name)) {
            name = part;  // "cuda12" says that it is for CUDA
        } else if (!part.empty()) {
            name += "-" + part;
        }
    }
    return name;
}

/// Each is named by its needs; where those are the same, for what it holds as well.
void name_regions(std::vector<Region>& regions, const Request& request) {
    std::map<std::string_view, std::vector<Region*>> by_gpu;
    for (auto& region : regions) by_gpu[gpu_of(region, request)].push_back(&region);
    std::set<std::string> taken;
    std::map<std::string, std::vector<const Region*>> called;
    for (const auto& [gpu, of_gpu] : by_gpu) {
        for (auto* region : of_gpu) {
            auto name = name_by_needs(*region, gpu, of_gpu);
            auto& namesakes = called[name];
            if (!namesakes.empty()) {
                const auto more = what_differs(*region, namesakes, request);
                if (more.starts_with(name)) {
                    name = more;
                } else if (!more.empty()) {
                    name.append("-").append(more);
                }
            }
            namesakes.push_back(region);
            region->name = name;
            for (int number = 2; !taken.insert(region->name).second; ++number)
                region->name = fmt::format("{}-{}", name, number);
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
Result<void> lead_all(const Regions& regions, const std::stop_token& stop, LockFile& lock) {
    for (std::size_t more = 1; more > 0;) {
        if (stop.stop_requested()) return fail(ErrorKind::Interrupted, "interrupted");
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
    return {};
}

}  // namespace

Result<Regions> decision_regions(Context& context, Question question) {
    auto& problem = question.problem;
    problem.wants_reasons = false;
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
    name_regions(found.regions, problem.request);
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
    GPKG_CHECK(lead_all(regions, question.problem.stop, lock));
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

}  // namespace gpkg::cli
