#include "cli/workflow/doctor/code_checkup.hpp"

#include "libcore/base/text.hpp"
#include "libcore/binary/gpu_code.hpp"
#include "libcore/env/order.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/hardware/gpu_libraries.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "virtual-packages/amd.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <optional>

namespace gpkg::cli {
namespace {

using Grade = Finding::Grade;

/// What the machine's devices run: compute capabilities, the lowest first, and AMD's target.
struct Devices {
    std::vector<Version> nvidia;
    std::string amd;
};

Devices devices_of(const std::vector<PackageRecord>& machine) {
    Devices devices;
    devices.nvidia = cuda_devices(machine);
    const auto* amd = find_record(machine, "__amdgpu_arch");
    if (amd != nullptr) devices.amd = gfx_of_version(amd->version).value_or("");
    return devices;
}

std::vector<PackageRecord> without_driver(std::vector<PackageRecord> machine) {
    std::erase_if(machine, [](const PackageRecord& record) { return record.name == "__cuda"; });
    return machine;
}

/// How something runs, on the device where it runs worst.
struct Runs {
    CodeRuns how;
    std::string device;
};

bool may_hold_gpu_code(const PackageRecord& record) {
    return is_vendor_part(record.name) || accelerator_of(record).accelerator != Accelerator::None;
}

/// What the binaries of a package hold, and how the one that runs worst does.
struct PackageCode {
    GpuCode all;
    std::optional<Runs> worst;
    std::string worst_file;
    bool some_run = false;
};

std::optional<Runs> runs_on(const GpuCode& code, const Devices& devices) {
    std::optional<Runs> worst;
    for (const auto& device : devices.nvidia) {
        if (!code.has_cuda()) break;
        const auto how = runs_on_nvidia(code, device);
        if (!worst || how > worst->how) worst = Runs{how, device.to_string()};
    }
    if (!worst && !code.gfx.empty() && !devices.amd.empty())
        worst = Runs{runs_on_amd(code, devices.amd), devices.amd};
    return worst;
}

/// Libraries and programs; what else an ELF file can be has no GPU code that is run.
bool may_be_binary(const std::string& file) {
    return file.starts_with("bin/") || file.starts_with("libexec/") ||
           fs::path(file).filename().native().find(".so") != std::string::npos;
}

PackageCode code_of(const fs::path& prefix, const PrefixRecord& record, const Devices& devices) {
    PackageCode package;
    for (const auto& file : record.files) {
        std::error_code ignored;
        if (!may_be_binary(file) || fs::is_symlink(prefix / file, ignored)) continue;
        // What cannot be read is `gpkg verify`'s to tell of.
        const auto code = read_gpu_code(prefix / file);
        if (!code || code->empty()) continue;
        package.all.add(*code);
        const auto runs = runs_on(*code, devices);
        if (!runs) continue;
        package.some_run = package.some_run || runs->how != CodeRuns::No;
        if (package.worst && runs->how <= package.worst->how) continue;
        package.worst = runs;
        package.worst_file = file;
    }
    return package;
}

/// What packages that hold no code themselves say of it.
struct Declared {
    Grade grade = Grade::Warning;
    std::string message;
    std::vector<std::string> names;
};

class CodeCheckup {
public:
    CodeCheckup(const Checked& checked, bool compiles_ptx)
        : checked_(checked),
          compiles_ptx_(compiles_ptx),
          devices_(devices_of(checked.machine())),
          devices_alone_(without_driver(checked.machine())) {}

    std::vector<Finding> run() && {
        if (devices_.nvidia.empty() && devices_.amd.empty()) return {};
        for (const auto& record : checked_.records) {
            if (!may_hold_gpu_code(record.package)) continue;
            const auto code = code_of(checked_.prefix, record, devices_);
            if (code.worst) {
                judge(record.name(), code);
            } else if (code.all.empty() &&
                       (!is_vendor_part(record.name()) || least_device_of(record.name()))) {
                judge_declared(record.package);
            }
        }
        judge_asked();
        tell_declared();
        if (native_ > 0)
            found_.push_back({Grade::Good,
                              "GPU code",
                              fmt::format("{} {} machine code for {}",
                                          native_,
                                          native_ == 1 ? "package contains" : "packages contain",
                                          devices()),
                              {}});
        return std::move(found_);
    }

private:
    std::string devices() const {
        if (devices_.nvidia.empty()) return devices_.amd;
        std::vector<std::string> all;
        for (const auto& device : devices_.nvidia) all.push_back(device.to_string());
        return join_some(all, "and", all.size());
    }

    /// Of builds that are not told to lack code for the devices.
    std::string other_builds(const std::string& name) const {
        const auto fits = [this](const PackageRecord& record) {
            return !devices_alone_.obstacle_of(record) && !devices_alone_.caution_of(record);
        };
        const auto builds = checked_.remedies.other_builds(name, fits);
        return builds.empty()
                   ? fmt::format("no build of {} in these channels is known to have code for {}",
                                 name,
                                 devices())
                   : builds;
    }

    /// Whether the GPUs have a driver for the CUDA that the environment's builds are for.
    bool may_have_newer_driver() const {
        return std::ranges::all_of(cuda_version_packages(), [&](std::string_view name) {
            const auto* told = find_record(checked_.records, name);
            const auto cuda =
                told == nullptr ? fail(ErrorKind::NotFound, "") : version_of(told->package);
            return !cuda || may_have_driver_for(*cuda, checked_.machine());
        });
    }

    /// What has code for the devices of those that gave them up: "libcudnn<9.11".
    static std::vector<std::string> versions_with_code(const std::vector<std::string>& names) {
        std::vector<std::string> specs;
        for (const auto& name : names) {
            if (const auto least = least_device_of(name))
                specs.push_back(fmt::format("{}<{}", name, least->since.to_string()));
        }
        return specs;
    }

    /// The command that brings better builds of all of them, or does without, where one is known.
    std::string better_builds(const std::vector<std::string>& names, Grade grade) const {
        auto& remedies = checked_.remedies;
        const auto best_known = best_known_of(checked_, names);
        std::vector<Remedies::Attempt> attempts;
        if (const auto older = versions_with_code(names); !older.empty())
            attempts.emplace_back([&remedies, older] { return remedies.install(older); });
        attempts.emplace_back([&] { return remedies.update(best_known); });
        if (const auto cuda = newest_cuda_here(checked_.machine()); !cuda.empty())
            attempts.emplace_back(
                [&remedies, cuda] { return remedies.install({"cuda-version" + cuda}); });
        const auto is_better = [&](const PackageRecord& record) {
            return std::ranges::find(names, record.name) == names.end() ||
                   (!devices_alone_.obstacle_of(record) &&
                    (grade == Grade::Bad || !devices_alone_.caution_of(record)));
        };
        const auto remedy = remedies.first_of(
            attempts, [&](const auto& records) { return std::ranges::all_of(records, is_better); });
        return remedy ? remedy->command : other_builds(with_variants_of(checked_, names));
    }

    void warn(Grade grade, const std::string& name, std::string message, std::string hint = {}) {
        found_.push_back({grade, name, std::move(message), std::move(hint)});
    }

    void judge(const std::string& name, const PackageCode& code) {
        const auto holds = to_string(code.all);
        const auto& device = code.worst->device;
        switch (code.worst->how) {
        case CodeRuns::Natively: ++native_; return;
        case CodeRuns::Compiled:
            if (compiles_ptx_)
                return warn(Grade::Warning,
                            name,
                            fmt::format("contains {}; {} runs on {} as PTX, which the driver "
                                        "compiles at the first start",
                                        holds,
                                        code.worst_file,
                                        device));
            return warn(
                Grade::Bad,
                name,
                fmt::format("contains {}; on {} {} would run as PTX, but this driver cannot "
                            "compile PTX of a newer CUDA",
                            holds,
                            device,
                            code.worst_file),
                may_have_newer_driver() ? "install a newer driver, or: " + other_builds(name)
                                        : other_builds(name));
        case CodeRuns::No:
            return warn(
                code.some_run ? Grade::Warning : Grade::Bad,
                name,
                fmt::format(
                    "contains {}; {} has no code that runs on {}", holds, code.worst_file, device),
                other_builds(name));
        }
    }

    /// Of what holds no code itself, and is no part of a vendor's own that runs on the host alone
    /// (cuda-nvdisasm, libcufile). What the lowest device is too old for is not met, and told
    /// already, and so is the driver.
    void judge_declared(const PackageRecord& record) {
        if (auto obstacle = devices_alone_.obstacle_of(record))
            return declare(Grade::Bad, *std::move(obstacle), record.name);
        if (const auto caution = devices_alone_.caution_of(record))
            return declare(Grade::Warning, at_best_as_ptx(*caution), record.name);
        for (const auto& device : devices_.nvidia) {
            const auto code = declared_code(record, device);
            if (code && code->fit == CodeFit::Compiled)
                warn(Grade::Warning,
                     record.name,
                     fmt::format("is for compute capability {} and later; on {} it may run only as "
                                 "PTX, which the driver compiles at the first start",
                                 code->target.to_string(),
                                 device.to_string()));
        }
    }

    /// What was asked for need not say itself that it is for GPUs: openmm and numba-cuda need parts
    /// that are.
    void judge_asked() {
        const auto is_bad = [](const Declared& one) { return one.grade == Grade::Bad; };
        if (std::ranges::any_of(declared_, is_bad)) return;
        const auto graph = graph_of(checked_.records);
        for (const auto& wish : checked_.wishes) {
            const auto place = graph.find(wish.name);
            if (!place || is_part_of_cuda(wish.name) || tells_cuda_version(wish.name)) continue;
            if (auto obstacle = obstacle_of_all(graph, *place))
                declare(Grade::Bad, *std::move(obstacle), wish.name);
        }
    }

    /// Of a record or of what it needs to run, the nearest first.
    std::optional<std::string> obstacle_of_all(const RecordGraph& graph, std::size_t place) const {
        std::vector<bool> seen(graph.records().size());
        std::deque<std::size_t> open{place};
        for (; !open.empty(); open.pop_front()) {
            const auto& record = graph.records()[open.front()];
            if (seen[open.front()] || is_for_building(record.name) ||
                tells_cuda_version(record.name))
                continue;
            seen[open.front()] = true;
            if (auto obstacle = devices_alone_.obstacle_of(record))
                return open.front() == place
                           ? *std::move(obstacle)
                           : fmt::format(
                                 "needs {} {}, which {}", record.name, record.version, *obstacle);
            for (const auto& need : graph.needs(open.front())) open.push_back(need.to);
        }
        return std::nullopt;
    }

    void declare(Grade grade, std::string message, const std::string& name) {
        auto place = std::ranges::find(declared_, message, &Declared::message);
        if (place == declared_.end())
            place = declared_.insert(place, Declared{grade, std::move(message), {}});
        place->names.push_back(name);
    }

    /// Of what says the same, first what a person knows.
    void tell_declared() {
        for (auto& [grade, message, names] : declared_) {
            const auto hint = better_builds(names, grade);
            const auto known = std::ranges::find(names, best_known_of(checked_, names));
            if (known != names.end()) std::rotate(names.begin(), known, known + 1);
            warn(grade, names.front(), with_others(std::move(message), names), hint);
        }
    }

    const Checked& checked_;
    bool compiles_ptx_;
    Devices devices_;
    CudaLimits devices_alone_;
    std::size_t native_ = 0;
    std::vector<Declared> declared_;
    std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> check_gpu_code(const Checked& checked, bool compiles_ptx) {
    return CodeCheckup(checked, compiles_ptx).run();
}

}  // namespace gpkg::cli
