#include "libcore/classes/class_words.hpp"

#include "libcore/base/text.hpp"
#include "libcore/classes/class_order_internal.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace gpkg {
namespace {

using lock::Advantage;

std::string_view text_of(GpuBuilds builds) {
    switch (builds) {
    case GpuBuilds::ForGpuThere: return "builds for this GPU";
    case GpuBuilds::ForDriverThere: return "builds for this GPU driver";
    case GpuBuilds::ForGpuAskedFor: return "builds for the requested GPU";
    case GpuBuilds::ForGpuNotThere: return "builds for an absent GPU";
    case GpuBuilds::ForGpuNotAskedFor: return "builds for a GPU that was not requested";
    case GpuBuilds::None: break;
    }
    return "builds for a GPU";
}

/// "h100 also fits", "2 other classes also fit": those that fit beside the first.
std::string also_fit(const std::vector<ClassFit>& fits) {
    const auto is_same = [&](const ClassFit& fit) {
        return fit.locked->packages == fits.front().locked->packages &&
               fit.locked->foreign == fits.front().locked->foreign;
    };
    if (std::ranges::all_of(fits, is_same)) return "all classes have the same packages";
    const auto others =
        std::count_if(fits.begin() + 1, fits.end(), [](const ClassFit& fit) { return fit.fits(); });
    return others == 1 ? fmt::format("{} also fits", fits[1].locked->name)
                       : fmt::format("{} other classes also fit", others);
}

/// `fits` has the first and the second, which it is compared with, and those after them.
std::string text_of(Advantage advantage, const std::vector<ClassFit>& fits) {
    const auto& of = fits[0];
    const auto& before = fits[1];
    const auto& other = before.locked->name;
    switch (advantage) {
    case Advantage::Fits: return "fits";
    case Advantage::Runs: return fmt::format("runs on this GPU and driver, and {} does not", other);
    case Advantage::EarlierGpu:
        return fmt::format("has builds for a GPU requested before that of {}", other);
    case Advantage::Builds: return fmt::format("has {}", text_of(of.builds));
    case Advantage::MadeFor:
        return fmt::format("was locked for a machine like this one; {}", also_fit(fits));
    case Advantage::MoreBuilds:
        return fmt::format("has more {} than {}", text_of(of.builds), other);
    case Advantage::NoBuilds: return fmt::format("has no {}", text_of(before.builds));
    case Advantage::CloserGpu: return "has builds closer to this GPU";
    case Advantage::CloserCpu: return "has builds closer to this CPU";
    case Advantage::AsksMore: return fmt::format("needs more of this machine than {}", other);
    }
    return {};
}

std::string all_of(const std::vector<std::string>& specs) {
    return join_some(specs, "and", specs.size());
}

/// "__cuda >=12, __cuda_arch >=7.0,<8"
std::string list_of(const std::vector<std::string>& specs) {
    std::string text;
    for (const auto& spec : specs) text += (text.empty() ? "" : ", ") + written(spec);
    return text;
}

std::string why_not_run(const ClassFit& fit) {
    constexpr std::size_t kMostTold = 3;
    return join_first(fit.will_not_run, kMostTold);
}

}  // namespace

std::string needs_text(const LockFile& lock, const LockedClass& locked) {
    auto text = list_of(locked.needs);
    if (const auto more = restrictions_beside_needs(lock, locked); !more.empty())
        text += (text.empty() ? "if present: " : "; if present: ") + list_of(more);
    return text;
}

std::string advantage_of_first(const std::vector<ClassFit>& fits) {
    if (fits.size() == 1) return "fits the machine";
    if (!fits[1].fits()) return "is the only class that fits";
    const auto [order, advantage] = lock::compare(fits[0], fits[1]);
    if (order != 0) return text_of(advantage, fits);
    return fmt::format("fits as well as {} and comes first by name", fits[1].locked->name);
}

std::string standing_of(const ClassFit& fit, const std::vector<ClassFit>& fits) {
    if (!fit.fits()) return join_some(fit.unmet, "and");
    const bool is_taken = &fit == &fits.front() && other_vendors(fits) == nullptr;
    auto text = is_taken ? "selected: it " + advantage_of_first(fits) : "fits";
    if (!fit.runs())
        text +=
            fmt::format("{} does not run here: {}", is_taken ? "; it" : ", but", why_not_run(fit));
    if (!fit.missed.empty()) text += "; its GPU builds need " + all_of(fit.missed);
    if (!fit.unknown.empty()) text += (is_taken ? "; it " : "; ") + all_of(fit.unknown);
    return text;
}

std::vector<std::string> notes_on_first(const std::vector<ClassFit>& fits,
                                        std::string_view machine) {
    const auto& first = fits.front();
    std::vector<std::string> notes;
    if (!first.runs())
        notes.push_back(fmt::format(
            "{} does not run on {}: {}", first.locked->name, machine, why_not_run(first)));
    if (!first.missed.empty())
        notes.push_back(fmt::format("the GPU builds of {} need {}, which {} does not have",
                                    first.locked->name,
                                    all_of(first.missed),
                                    machine));
    if (!first.unknown.empty())
        notes.push_back(fmt::format("{} {}", first.locked->name, all_of(first.unknown)));
    // It fits as well, and has builds for the GPU, which the first has not.
    const auto idle = std::ranges::find_if(fits, [&](const ClassFit& fit) {
        return fit.fits() && !fit.runs() && fit.gpu > std::max(first.gpu, 0);
    });
    if (first.runs() && idle != fits.end())
        notes.push_back(
            fmt::format("{} has {} but does not run on {}: {}; to add a class that does: gpkg lock "
                        "update --for MACHINE",
                        idle->locked->name,
                        text_of(idle->builds),
                        machine,
                        why_not_run(*idle)));
    return notes;
}

}  // namespace gpkg
