#include "libcore/plan/cuda_plan.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/plan/cuda_cover_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tuple>

namespace gpkg {
namespace {

using Versions = std::vector<Version>;

std::vector<std::string> texts_of(const Versions& versions) {
    std::vector<std::string> texts;
    texts.reserve(versions.size());
    for (const auto& version : versions) texts.push_back(version.to_string());
    return texts;
}

/// Calls `look` with every choice of `count` toolkits.
template <typename Look>
void each_choice(const Versions& toolkits, std::size_t count, const Look& look) {
    std::vector<bool> taken(toolkits.size());
    std::fill(taken.end() - static_cast<std::ptrdiff_t>(count), taken.end(), true);
    do {
        Versions choice;
        for (std::size_t i = 0; i < toolkits.size(); ++i) {
            if (taken[i]) choice.push_back(toolkits[i]);
        }
        look(choice);
    } while (std::next_permutation(taken.begin(), taken.end()));
}

struct Choice {
    Versions toolkits;  ///< the oldest first
    CudaCover cover;
};

/// What is better among choices of equally many toolkits.
bool is_better(const Choice& a, const Choice& b, PtxUse ptx) {
    const auto rank = [&](const Choice& one) {
        return std::tuple(
            one.cover.unserved, ptx == PtxUse::Anywhere ? 0 : one.cover.on_ptx, one.cover.size());
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return std::lexicographical_compare(
        b.toolkits.rbegin(), b.toolkits.rend(), a.toolkits.rbegin(), a.toolkits.rend());
}

Choice best_of(const std::vector<CudaDevice>& devices,
               const Versions& toolkits,
               std::size_t count,
               const CudaPlanOptions& options) {
    std::optional<Choice> best;
    each_choice(toolkits, count, [&](const Versions& some) {
        Choice choice{some, least_cover(devices, some, options.ptx, options.exact)};
        if (!best || is_better(choice, *best, options.ptx)) best = std::move(choice);
    });
    return *std::move(best);
}

/// Where a newer driver would do: "CUDA 13.0 needs a newer driver".
tl::unexpected<Error> needs_newer_driver(const CudaDevice& device,
                                         const std::string& name,
                                         const std::vector<std::string>& too_new,
                                         const std::vector<std::string>& too_old) {
    const auto& driver = *device.driver;
    auto message = fmt::format("{}: ", name);
    if (!too_old.empty())
        message += fmt::format("CUDA {} cannot compile code for it; ", join_or(too_old));
    message += fmt::format("CUDA {} {} a newer driver (this one supports CUDA {})",
                           join_some(too_new, "and", too_new.size()),
                           too_new.size() == 1 ? "needs" : "need",
                           driver.to_string());
    return fail(ErrorKind::Unsatisfiable,
                std::move(message),
                makes_code_for(driver, device.target)
                    ? fmt::format("use --cuda {}, or a newer driver", driver.to_string())
                    : "use a newer driver");
}

/// Why no toolkit serves the device.
tl::unexpected<Error> nothing_serves(const CudaDevice& device, const CudaPlanOptions& options) {
    const auto given = texts_of(options.toolkits);
    const auto target = device.target.to_string();
    const auto name =
        device.machine.empty() ? target : fmt::format("{} ({})", device.machine, target);
    std::vector<std::string> too_new;
    std::vector<std::string> too_old;
    for (const auto& one : options.toolkits) {
        const bool compiles = serves_natively(one, device.target, {device.target}, options.exact);
        (compiles ? too_new : too_old).push_back(one.to_string());
    }
    if (device.driver && !too_new.empty())
        return needs_newer_driver(device, name, too_new, too_old);
    std::string hint;
    for (const auto& toolkit : latest_toolkits()) {
        if (makes_code_for(toolkit, device.target)) hint = "use --cuda " + toolkit.to_string();
    }
    const bool is_newer = targets_of(options.toolkits.back()).back() < device.target;
    if (is_newer && options.ptx == PtxUse::Never &&
        device.target.features == CudaTarget::Features::Plain)
        hint += fmt::format("{} --ptx-rest to let the driver compile it",
                            hint.empty() ? "use" : ", or");
    return fail(ErrorKind::Unsatisfiable,
                fmt::format("{}: CUDA {} cannot compile code for it", name, join_or(given)),
                hint);
}

Result<void> check_served(const std::vector<CudaDevice>& devices, const CudaPlanOptions& options) {
    for (const auto& device : devices) {
        if (least_cover({device}, options.toolkits, options.ptx, options.exact).unserved > 0)
            return nothing_serves(device, options);
    }
    return {};
}

Result<Choice> choose(const std::vector<CudaDevice>& devices, const CudaPlanOptions& options) {
    for (std::size_t count = 1;; ++count) {
        auto best = best_of(devices, options.toolkits, count, options);
        if (best.cover.unserved > 0) continue;  // with all of them nothing is left
        const auto most = options.most_builds.value_or(count);
        if (count <= most) return best;
        const auto fewer = best_of(devices, options.toolkits, most, options);
        std::vector<std::string> left;
        for (const auto& device : devices) {
            if (least_cover({device}, fewer.toolkits, options.ptx, options.exact).unserved > 0)
                left.push_back(device.target.to_string());
        }
        return fail(ErrorKind::Unsatisfiable,
                    fmt::format("{} builds are needed (CUDA {}), but --max-builds is {}",
                                count,
                                fmt::join(texts_of(best.toolkits), ", "),
                                most),
                    fmt::format("builds with only CUDA {} do not cover {}",
                                fmt::join(texts_of(fewer.toolkits), ", "),
                                join_some(left, "and", left.size())));
    }
}

/// PTX goes to those targets of which a device needs it.
std::vector<CudaBuild> builds_of(const std::vector<CudaDevice>& devices,
                                 const Choice& choice,
                                 const CudaPlanOptions& options) {
    std::vector<CudaBuild> builds;
    builds.reserve(choice.toolkits.size());
    for (std::size_t i = 0; i < choice.toolkits.size(); ++i)
        builds.push_back({choice.toolkits[i], choice.cover.targets[i], {}});
    for (const auto& device : devices) {
        const auto is_native = [&](const CudaBuild& build) {
            const auto service = service_of(build, device, options.exact);
            return service && service->natively;
        };
        if (options.ptx == PtxUse::Never || std::any_of(builds.begin(), builds.end(), is_native))
            continue;
        // Of the newest toolkit that can, the highest.
        for (auto build = builds.rbegin(); build != builds.rend(); ++build) {
            const auto target =
                std::find_if(build->sass.rbegin(), build->sass.rend(), [&](CudaTarget one) {
                    return serves_as_ptx(build->toolkit, one, device);
                });
            if (target == build->sass.rend()) continue;
            build->ptx.insert(*target);
            break;
        }
    }
    for (auto& build : builds) {
        const auto highest =
            std::find_if(build.sass.rbegin(), build.sass.rend(), [](CudaTarget one) {
                return one.features == CudaTarget::Features::Plain;
            });
        if (options.future && highest != build.sass.rend()) build.ptx.insert(*highest);
    }
    return builds;
}

}  // namespace

std::string CudaBuild::arch_list() const {
    std::vector<std::string> items;
    items.reserve(sass.size());
    for (const auto target : sass)
        items.push_back(target.to_string() + (ptx.contains(target) ? "+PTX" : ""));
    return fmt::format("{}", fmt::join(items, ";"));
}

std::string CudaBuild::cmake_list() const {
    std::vector<std::string> items;
    items.reserve(sass.size());
    for (const auto target : sass)
        items.push_back(target.digits() + (ptx.contains(target) ? "" : "-real"));
    return fmt::format("{}", fmt::join(items, ";"));
}

std::optional<CudaService> service_of(const CudaBuild& build,
                                      const CudaDevice& device,
                                      bool exact) {
    for (auto target = build.sass.rbegin(); target != build.sass.rend(); ++target) {
        if (serves_natively(build.toolkit, *target, device, exact))
            return CudaService{true, *target};
    }
    for (auto target = build.ptx.rbegin(); target != build.ptx.rend(); ++target) {
        if (serves_as_ptx(build.toolkit, *target, device)) return CudaService{false, *target};
    }
    return std::nullopt;
}

Result<std::vector<CudaBuild>> plan_cuda(const std::vector<CudaDevice>& devices,
                                         const CudaPlanOptions& wanted) {
    auto options = wanted;
    auto& toolkits = options.toolkits;
    std::sort(toolkits.begin(), toolkits.end());
    toolkits.erase(std::unique(toolkits.begin(), toolkits.end()), toolkits.end());
    if (devices.empty()) return std::vector<CudaBuild>();
    GPKG_CHECK(check_served(devices, options));
    if (!options.every_toolkit) {
        GPKG_TRY(const auto choice, choose(devices, options));
        return builds_of(devices, choice, options);
    }
    std::vector<CudaBuild> builds;
    for (const auto& toolkit : toolkits) {
        auto cover = least_cover(devices, {toolkit}, options.ptx, options.exact);
        if (cover.unserved == devices.size()) continue;
        auto made = builds_of(devices, {{toolkit}, std::move(cover)}, options);
        builds.push_back(std::move(made.front()));
    }
    return builds;
}

}  // namespace gpkg
