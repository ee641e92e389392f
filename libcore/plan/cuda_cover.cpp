#include "libcore/hardware/toolkit.hpp"
#include "libcore/plan/cuda_cover_internal.hpp"

#include <algorithm>
#include <numeric>

// Devices are served one after the other: those first that want specific code, for they have no
// choice, then from the lowest capability up. For the lowest device that is not served yet every
// machine code of one toolkit that serves it serves the same others, since those below are served
// already; so the highest is as good as any. Where PTX counts, each is tried. Then there is only to
// be tried which toolkit to take: few ways, cut where they need as many targets as the best so far.

namespace gpkg {
namespace {

class Search {
public:
    Search(const std::vector<CudaDevice>& devices,
           const std::vector<Version>& toolkits,
           PtxUse ptx,
           bool exact)
        : devices_(devices), toolkits_(toolkits), ptx_(ptx), exact_(exact) {
        for (const auto& toolkit : toolkits) targets_.push_back(targets_of(toolkit));
        std::sort(devices_.begin(), devices_.end(), [](const auto& a, const auto& b) {
            return std::pair(b.target.features, a.target.capability) <
                   std::pair(a.target.features, b.target.capability);
        });
        unserved_ = std::erase_if(devices_, [&](const CudaDevice& device) {
            for (std::size_t i = 0; i < toolkits_.size(); ++i) {
                if (!candidates(i, device).empty()) return false;
            }
            return true;
        });
    }

    CudaCover run() {
        CudaCover empty;
        empty.targets.resize(toolkits_.size());
        empty.unserved = unserved_;
        go_on(std::move(empty), 0);
        return *std::move(best_);
    }

private:
    void go_on(CudaCover cover, std::size_t next) {
        if (best_ && cover.size() >= best_->size()) return;
        while (next < devices_.size() && is_served(cover, devices_[next])) ++next;
        if (next == devices_.size()) {
            count_ptx(cover);
            best_ = std::move(cover);
            return;
        }
        for (std::size_t i = 0; i < toolkits_.size(); ++i) {
            for (const auto target : candidates(i, devices_[next])) {
                auto more = cover;
                more.targets[i].insert(target);
                go_on(std::move(more), next + 1);
            }
        }
    }

    bool may_be_ptx(const CudaDevice& device) const {
        return ptx_ == PtxUse::Anywhere || (ptx_ == PtxUse::Rest && !has_machine_code(device));
    }

    bool has_machine_code(const CudaDevice& device) const {
        for (std::size_t i = 0; i < toolkits_.size(); ++i) {
            for (const auto target : targets_[i]) {
                if (serves_natively(toolkits_[i], target, device, exact_)) return true;
            }
        }
        return false;
    }

    /// Targets of a toolkit that serve the device and are worth a try, the best first.
    std::vector<CudaTarget> candidates(std::size_t toolkit, const CudaDevice& device) const {
        std::vector<CudaTarget> found;
        std::vector<CudaTarget> compiled;
        for (auto target = targets_[toolkit].rbegin(); target != targets_[toolkit].rend();
             ++target) {
            // What has more features serves nobody whom code with those asked for would not.
            if (target->features != device.target.features) continue;
            if (serves_natively(toolkits_[toolkit], *target, device, exact_)) {
                found.push_back(*target);
                if (ptx_ == PtxUse::Never) return found;
            } else if (may_be_ptx(device) && serves_as_ptx(toolkits_[toolkit], *target, device)) {
                compiled.push_back(*target);
            }
        }
        found.insert(found.end(), compiled.begin(), compiled.end());
        return found;
    }

    bool is_served(const CudaCover& cover, const CudaDevice& device) const {
        return is_served_by(cover, [&](const Version& toolkit, CudaTarget target) {
            return serves_natively(toolkit, target, device, exact_) ||
                   (may_be_ptx(device) && serves_as_ptx(toolkit, target, device));
        });
    }

    void count_ptx(CudaCover& cover) const {
        const auto on_ptx = std::count_if(devices_.begin(), devices_.end(), [&](const auto& one) {
            return !is_served_by(cover, [&](const Version& toolkit, CudaTarget target) {
                return serves_natively(toolkit, target, one, exact_);
            });
        });
        cover.on_ptx = static_cast<std::size_t>(on_ptx);
    }

    template <typename Serves>
    bool is_served_by(const CudaCover& cover, const Serves& serves) const {
        for (std::size_t i = 0; i < toolkits_.size(); ++i) {
            for (const auto target : cover.targets[i]) {
                if (serves(toolkits_[i], target)) return true;
            }
        }
        return false;
    }

    std::vector<CudaDevice> devices_;
    const std::vector<Version>& toolkits_;
    PtxUse ptx_;
    bool exact_;
    std::vector<std::vector<CudaTarget>> targets_;  ///< by toolkit, the lowest first
    std::size_t unserved_ = 0;
    std::optional<CudaCover> best_;
};

DriverFit fit_of(const Version& toolkit, const CudaDevice& device) {
    return device.driver ? driver_fit(toolkit, *device.driver) : DriverFit::Native;
}

}  // namespace

bool serves_natively(const Version& toolkit,
                     CudaTarget code,
                     const CudaDevice& device,
                     bool exact) {
    const bool runs =
        exact ? code.capability == device.target.capability && runs_natively(code, device.target)
              : runs_natively(code, device.target);
    return runs && makes_code_for(toolkit, code) && fit_of(toolkit, device) != DriverFit::No;
}

bool serves_as_ptx(const Version& toolkit, CudaTarget code, const CudaDevice& device) {
    return runs_as_ptx(code, device.target) && makes_code_for(toolkit, code) &&
           fit_of(toolkit, device) == DriverFit::Native;
}

std::size_t CudaCover::size() const {
    return std::accumulate(
        targets.begin(), targets.end(), std::size_t{0}, [](std::size_t sum, const auto& list) {
            return sum + list.size();
        });
}

CudaCover least_cover(const std::vector<CudaDevice>& devices,
                      const std::vector<Version>& toolkits,
                      PtxUse ptx,
                      bool exact) {
    return Search(devices, toolkits, ptx, exact).run();
}

}  // namespace gpkg
