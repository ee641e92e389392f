#include "cli/workflow/doctor/wheel_checkup.hpp"

#include "cli/workflow/pip_packages.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/record_version.hpp"

#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace gpkg::cli {
namespace {

using Grade = Finding::Grade;

/// tensorflow-gpu is the same as tensorflow since 2.1, and refuses to be installed since 2.12 (its
/// own setup.py says both).
constexpr std::string_view kOldWheel = "tensorflow-gpu";
constexpr std::string_view kInstead =
    "use tensorflow, or tensorflow[and-cuda] to "
    "let pip install CUDA too";

class WheelCheckup {
public:
    explicit WheelCheckup(const Checked& checked)
        : checked_(checked),
          machine_(checked.machine()),
          driver_(find_version(machine_, "__cuda")),
          has_gpu_(!vendors_with(machine_, has_device).empty()),
          limits_(machine_) {}

    std::vector<Finding> run() && {
        const auto all = pip_packages(checked_.prefix, checked_.records);
        const auto present = normal_names(all);
        for (const auto& wheel : all) {
            const auto columns = wheel_columns(wheel, present);
            const auto what = fmt::format("{} (pip)", wheel.name);
            if (normal_wheel_name(wheel.name) == kOldWheel)
                add(Grade::Warning, what, "is an outdated package name", std::string(kInstead));
            const auto told = accelerator_of_flag(columns.accelerator);
            const auto accelerator = told.value_or(Accelerator::None);
            const auto& cuda = columns.cuda;
            if (told == Accelerator::None && has_gpu_)
                add(Grade::Warning,
                    what,
                    fmt::format("is a CPU build, but {} has a GPU", checked_.machine_name()),
                    "install a wheel for the GPU, if there is one");
            if (accelerator == Accelerator::Nvidia && !cuda.empty() && beyond_driver(what, cuda))
                continue;
            if (accelerator != Accelerator::None && !has_device(machine_, accelerator))
                add(Grade::Warning, what, for_no_gpu_of(checked_.machine_name(), accelerator));
            else if (accelerator == Accelerator::Nvidia && !cuda.empty())
                code(what, cuda);
        }
        return std::move(found_);
    }

private:
    void add(Grade grade, const std::string& what, std::string message, std::string hint = {}) {
        found_.push_back({grade, what, std::move(message), std::move(hint)});
    }

    /// Whether it does not run; that it does with a reserve is told, too.
    bool beyond_driver(const std::string& what, const std::string& cuda) {
        const auto toolkit = Version::parse(cuda);
        const auto fit = driver_ && toolkit ? driver_fit(*toolkit, *driver_) : DriverFit::Native;
        if (fit == DriverFit::Native) return false;
        const bool is_beyond = fit == DriverFit::No;
        add(is_beyond ? Grade::Bad : Grade::Warning,
            what,
            fmt::format(
                "is for CUDA {}, but the driver supports {}; {}",
                cuda,
                driver_->to_string(),
                is_beyond ? "it does not run" : "it runs, except code that needs PTX compilation"),
            may_have_driver_for(*toolkit, machine_)
                ? "install a wheel for an older CUDA, or a newer driver"
                : "install a wheel for an older CUDA");
        return is_beyond;
    }

    /// What the toolkit can have made for the devices.
    void code(const std::string& what, const std::string& cuda) {
        if (auto obstacle = limits_.obstacle_of_cuda(cuda))
            add(Grade::Bad, what, *std::move(obstacle), "install a wheel for an older CUDA");
        else if (const auto caution = limits_.caution_of_cuda(cuda))
            add(Grade::Warning, what, at_best_as_ptx(*caution), "install a wheel for a newer CUDA");
    }

    const Checked& checked_;
    const std::vector<PackageRecord>& machine_;
    std::optional<Version> driver_;
    bool has_gpu_;
    CudaLimits limits_;
    std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> check_wheels(const Checked& checked) { return WheelCheckup(checked).run(); }

}  // namespace gpkg::cli
