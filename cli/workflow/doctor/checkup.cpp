#include "cli/workflow/doctor/checkup.hpp"

#include "cli/workflow/doctor/accelerator_checkup.hpp"
#include "cli/workflow/doctor/code_checkup.hpp"
#include "cli/workflow/doctor/wheel_checkup.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/order.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/contradictions.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/old_names.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "libcore/spec/unmet_dependency.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>

namespace gpkg::cli {
namespace {

using virtual_packages::Detection;
using Grade = Finding::Grade;

std::optional<Version> version_of_name(const std::vector<PrefixRecord>& records,
                                       std::string_view name) {
    const auto* record = find_record(records, name);
    if (record == nullptr) return std::nullopt;
    auto version = version_of(record->package);
    return version ? std::optional(*std::move(version)) : std::nullopt;
}

/// Whether it needs a CUDA, beside what only says which one.
bool is_for_cuda(const PrefixRecord& record) {
    const auto& package = record.package;
    if (tells_cuda_version(package.name)) return false;
    return is_part_of_cuda(package.name) ||
           accelerator_of(package).accelerator == Accelerator::Nvidia ||
           std::ranges::any_of(package.depends, [](const std::string& depend) {
               return tells_cuda_version(name_in_spec(depend));
           });
}

/// "2 NVIDIA H100, CUDA 12.8"
std::string hardware_text(const virtual_packages::HardwareProfile& profile) {
    std::map<std::string, std::size_t> counts;
    for (const auto& gpu : profile.gpus)
        ++counts[gpu.name.empty() ? fmt::format("{} GPU", virtual_packages::vendor_name(gpu.vendor))
                                  : gpu.name];
    std::vector<std::string> items;
    items.reserve(counts.size() + 2);
    for (const auto& [gpu, count] : counts)
        items.push_back(count == 1 ? gpu : fmt::format("{} {}", count, gpu));
    if (items.empty()) return "no GPU";
    if (profile.cuda)
        items.push_back(fmt::format(
            "CUDA {}{}", profile.cuda->value, profile.cuda->is_assumed ? " (assumed)" : ""));
    if (profile.rocm) items.push_back("ROCm " + profile.rocm->value);
    return fmt::format("{}", fmt::join(items, ", "));
}

/// What an override stands in for: "replaces the detected driver with CUDA 12.4".
std::string replaced_by(const virtual_packages::VirtualPackage& package,
                        const std::string& machine) {
    const auto says = [&](std::string_view what, const std::string& value) {
        return machine.empty() ? fmt::format("replaces the detected {} with {}", what, value)
                               : fmt::format("replaces the {} of {} with {}", what, machine, value);
    };
    const auto& name = package.name;
    if (name == "__cuda") return says("driver", "CUDA " + package.version);
    if (name == "__archspec") return says("CPU", package.build);
    if (name == "__cuda_arch") return says("compute capability", package.version);
    return says(std::string_view(name).substr(2), package.version);
}

/// "2.36" of "__glibc >=2.36".
std::optional<Version> glibc_needed(std::string_view spec) {
    constexpr std::string_view kNeed = "__glibc >=";
    if (!spec.starts_with(kNeed)) return std::nullopt;
    auto version = Version::parse(spec.substr(kNeed.size()));
    return version ? std::optional(*std::move(version)) : std::nullopt;
}

/// "an NVIDIA driver for CUDA 12.0 or newer" for "__cuda >=12.0"; "it" for other virtual packages.
std::string needed_text(std::string_view spec) {
    const auto space = spec.find(' ');
    const auto name = spec.substr(0, space);
    const auto versions = space == std::string_view::npos ? "" : spec.substr(space + 1);
    if (name == "__cuda_arch")
        return versions.empty() ? "an NVIDIA GPU"
                                : fmt::format("a GPU with compute capability {}", versions);
    if (name != "__cuda") return "it";
    if (versions.empty()) return "an NVIDIA driver";
    const bool is_least =
        versions.starts_with(">=") && versions.find_first_of(",|") == std::string_view::npos;
    return is_least ? fmt::format("an NVIDIA driver for CUDA {} or newer", versions.substr(2))
                    : fmt::format("an NVIDIA driver for CUDA {}", versions);
}

class Checkup {
public:
    explicit Checkup(const Checked& checked) : checked_(checked), machine_(checked.machine()) {
        const bool only_compiles = only_compiles_for_nvidia(
            checked.wishes, graph_of(checked.records).records(), checked.accelerators);
        if (only_compiles)
            unused_cuda_ = "not needed for building";
        else if (std::ranges::none_of(checked.records, is_for_cuda))
            unused_cuda_ = "no package uses CUDA";
    }

    std::vector<Finding> run() && {
        if (is_foreign()) return std::move(found_);
        needs_of_each_other();
        needs_of_machine();
        driver();
        code();
        contradictions();
        accelerators();
        old_names();
        wheels();
        if (found_.empty()) {
            add(Grade::Good,
                "environment",
                fmt::format("the requirements of {} in {} are met on {}",
                            count_text(checked_.records.size(), "package"),
                            checked_.name,
                            checked_.machine_name()));
            gpu_use();
        }
        return std::move(found_);
    }

private:
    void add(Grade grade, std::string subject, std::string message, std::string hint = {}) {
        found_.push_back({grade, std::move(subject), std::move(message), std::move(hint)});
    }

    /// Of what fails for a value of the machine.
    static Grade grade_with(const PackageRecord& value) {
        return is_assumed(value) ? Grade::Unknown : Grade::Bad;
    }

    /// Then what it asks of the driver counts for nothing.
    bool has_unused_cuda() const { return !unused_cuda_.empty(); }
    DriverBounds driver_bounds() const {
        return has_unused_cuda() ? DriverBounds::Ignore : DriverBounds::Count;
    }

    /// What is for another platform than the machine's: the rest says nothing then, and what would
    /// help on this one is no help.
    bool is_foreign() {
        std::size_t foreign = 0;
        std::set<std::string> platforms;
        for (const auto& record : checked_.records) {
            const auto& subdir = record.package.subdir;
            if (subdir.empty() || subdir == "noarch" || subdir == checked_.seen.machine.platform)
                continue;
            ++foreign;
            platforms.insert(subdir);
        }
        if (foreign == 0) return false;
        const std::vector<std::string> names(platforms.begin(), platforms.end());
        add(Grade::Bad,
            "platform",
            fmt::format("{} package{} in {} {} for {}, but {} is {}",
                        foreign,
                        foreign == 1 ? "" : "s",
                        checked_.name,
                        foreign == 1 ? "is" : "are",
                        join_some(names, "and"),
                        checked_.seen.machine.name,
                        checked_.seen.machine.platform));
        return true;
    }

    /// As a list of files or another tool may leave it.
    void needs_of_each_other() {
        const auto find = [&](std::string_view name) {
            const auto* record = find_record(checked_.records, name);
            return record == nullptr ? nullptr : &record->package;
        };
        std::vector<std::string> unmet;
        const auto take = [&](const PrefixRecord& record, const std::string& what) {
            if (!what.empty()) unmet.push_back(fmt::format("{} {}", record.name(), what));
        };
        for (const auto& record : checked_.records) {
            for (const auto& depend : record.package.depends) {
                if (!depend.starts_with("__")) take(record, unmet_dependency(depend, find));
            }
        }
        for (const auto& record : checked_.records) {
            for (const auto& restriction : record.package.constrains)
                take(record, broken_restriction(restriction, find));
        }
        constexpr std::size_t kMostTold = 4;
        if (!unmet.empty()) add(Grade::Bad, "dependencies", join_first(unmet, kMostTold));
    }

    /// What packages ask of the machine in vain.
    struct Unmet {
        UnmetNeed need;
        std::vector<std::string> names;
    };

    void needs_of_machine() {
        std::map<std::string, Unmet> unmet;
        for (const auto& record : checked_.records) {
            for (auto& need : unmet_needs(record.package, machine_, driver_bounds())) {
                const auto spec = written(need.spec);
                unmet.try_emplace(spec, Unmet{std::move(need), {}})
                    .first->second.names.push_back(record.name());
            }
        }
        needs_of_glibc(unmet);
        for (const auto& [spec, one] : unmet) {
            const auto* there = one.need.there;
            add(there != nullptr ? grade_with(*there) : Grade::Bad,
                spec,
                fmt::format("{} {} {}, but {} has {}{}",
                            join_some(one.names, "and"),
                            one.names.size() == 1 ? "needs" : "need",
                            needed_text(spec),
                            checked_.machine_name(),
                            there != nullptr ? value_told(*there) : "none",
                            there != nullptr ? assumed_mark(*there) : ""),
                help_with(one));
        }
    }

    /// One finding for all packages that need a newer glibc; takes them out.
    void needs_of_glibc(std::map<std::string, Unmet>& unmet) {
        std::optional<Version> newest;
        Unmet all;
        for (auto entry = unmet.begin(); entry != unmet.end();) {
            const auto needed = glibc_needed(entry->first);
            if (!needed) {
                ++entry;
                continue;
            }
            auto& [need, names] = entry->second;
            if (!newest || *newest < *needed) {
                newest = needed;
                all.need = need;
            }
            all.names.insert(all.names.end(), names.begin(), names.end());
            entry = unmet.erase(entry);
        }
        auto& names = all.names;
        if (names.empty()) return;
        std::ranges::sort(names);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        const auto* there = all.need.there;
        const auto what =
            names.size() == 1
                ? fmt::format("{} needs {}", names.front(), newest->to_string())
                : fmt::format("{} packages need up to {}", names.size(), newest->to_string());
        if (there != nullptr && is_assumed(*there))
            return add(Grade::Unknown,
                       "glibc",
                       fmt::format("{}; {} is assumed to have {}",
                                   what,
                                   checked_.machine_name(),
                                   value_told(*there)),
                       help_by_machine(all.need));
        // Builds of one package are worth a look; of many, none stands for all.
        const auto remedy = names.size() == 1 ? std::nullopt : other_variants(names);
        add(Grade::Bad,
            "glibc",
            fmt::format("{}, but {} has {}",
                        what,
                        checked_.machine_name(),
                        there == nullptr ? "none" : value_told(*there)),
            names.size() == 1 ? help_by_packages(all)
            : remedy          ? remedy->command
                              : "");
    }

    bool asks_for_what_is_here(const std::vector<PackageRecord>& records) const {
        return std::ranges::all_of(records, [&](const auto& one) {
            return unmet_needs(one, machine_, driver_bounds()).empty();
        });
    }

    std::optional<Remedy> first_that_helps(const std::vector<Remedies::Attempt>& attempts) const {
        return checked_.remedies.first_of(
            attempts, [&](const auto& records) { return asks_for_what_is_here(records); });
    }

    /// Newer or other builds, those for the GPU that is there before those for none.
    std::optional<Remedy> other_variants(const std::vector<std::string>& names) const {
        std::vector<Remedies::Attempt> attempts{
            [&] { return checked_.remedies.update(best_known_of(checked_, names)); }};
        auto accelerators = vendors_with(machine_, has_vendor);
        accelerators.push_back(Accelerator::None);
        for (const auto one : accelerators)
            attempts.emplace_back([&, one] { return builds_for(one, names); });
        return first_that_helps(attempts);
    }

    std::string help_with(const Unmet& unmet) const {
        auto by_machine = help_by_machine(unmet.need);
        const auto* there = unmet.need.there;
        if (there != nullptr && is_assumed(*there) && !by_machine.empty()) return by_machine;
        auto by_packages = help_by_packages(unmet);
        return joined(by_machine, by_packages);
    }

    /// Of two ways; the second may be that there is none.
    static std::string joined(const std::string& one, const std::string& other) {
        if (one.empty()) return other;
        return fmt::format("{}{} {}", one, other.starts_with("no ") ? ";" : ", or", other);
    }

    /// What another fact of the machine would do; empty where none is to be had.
    std::string help_by_machine(const UnmetNeed& need) const {
        const auto values = values_taken(need);
        const auto fact = how_to_give(checked_.seen.machine.given, need);
        if (need.there == nullptr) {
            const bool may_have_rocm =
                need.spec.name == "__rocm" && find_record(machine_, "__amdgpu") != nullptr;
            if (may_have_rocm && !checked_.seen.machine.given.empty())
                return "if it has ROCm: " + fact;
            return need.spec.name == "__cuda" ? "use a machine with an NVIDIA driver" : "";
        }
        if (is_assumed(*need.there))
            return fmt::format("if it has {}: {}",
                               values.newer   ? "a newer one"
                               : values.older ? "an older one"
                                              : "such a CPU",
                               fact);
        return newer_driver_helps(need, machine_) ? "install a newer driver" : "";
    }

    std::string help_by_packages(const Unmet& unmet) const {
        const bool is_driver = unmet.need.spec.name == "__cuda" && unmet.need.there != nullptr;
        auto remedy =
            is_driver && values_taken(unmet.need).newer ? older_build(unmet.names) : std::nullopt;
        if (!remedy) remedy = other_variants(unmet.names);
        if (remedy) return remedy->command;
        return checked_.remedies.other_builds(with_variants_of(checked_, unmet.names));
    }

    std::optional<Remedy> older_build(const std::vector<std::string>& names) const {
        auto& remedies = checked_.remedies;
        return first_that_helps(
            {[&] { return remedies.install({"cuda-version" + newest_cuda_here(machine_)}); },
             [&] { return remedies.update(best_known_of(checked_, names)); }});
    }

    std::optional<Remedy> builds_for(Accelerator vendor,
                                     const std::vector<std::string>& names) const {
        const auto is_asked = [&](const std::string& name) { return is_asked_for(checked_, name); };
        // What is a part of what was asked for goes with it.
        const bool some_are_asked = std::ranges::any_of(names, is_asked);
        std::vector<std::string> specs;
        for (const auto& name : names) {
            if (!is_part_of_cuda(name) && (!some_are_asked || is_asked(name)))
                specs.push_back(fmt::format("{}[accel={}]", name, to_string(vendor)));
        }
        return specs.empty() ? std::nullopt : checked_.remedies.install(specs);
    }

    /// What the environment has of CUDA, beside the driver's.
    void driver() {
        const auto driver = find_version(machine_, "__cuda");
        if (!driver) return;
        const auto cudas = cudas_of_environment();
        for (const auto& [name, toolkit] : cudas) {
            // That another one goes with the driver as well says nothing more.
            if (&toolkit == &cudas.front().second ||
                driver_fit(toolkit, *driver) != DriverFit::Native)
                one_cuda(name, toolkit, *driver);
        }
        if (cudas.empty()) builds_by_themselves();
    }

    void one_cuda(std::string_view name, const Version& toolkit, const Version& driver) {
        const auto* there = find_record(machine_, "__cuda");
        const auto what = fmt::format("{} {}; the driver supports {}{}",
                                      name,
                                      toolkit.to_string(),
                                      value_told(*there),
                                      assumed_mark(*there));
        if (has_unused_cuda())
            return add(Grade::Good, "CUDA", fmt::format("{}; {}", what, unused_cuda_));
        const auto fit =
            driver_fit(toolkit, driver, version_of_name(checked_.records, "cuda-compat"));
        const auto device = without_code(toolkit);
        if (device && fit != DriverFit::No)
            return add(
                Grade::Warning,
                "CUDA",
                fmt::format(
                    "{}; it does not support compute capability {}", what, device->to_string()),
                older_cuda(name, driver));
        switch (fit) {
        case DriverFit::Native: return add(Grade::Good, "CUDA", what);
        case DriverFit::MinorVersion:
            return add(Grade::Warning,
                       "CUDA",
                       what + "; it runs, except code that needs PTX compilation",
                       older_cuda(name, driver));
        case DriverFit::Forward:
            return add(
                Grade::Warning, "CUDA", what + "; it runs with cuda-compat, on data center GPUs");
        case DriverFit::No:
            return add(
                grade_with(*there), "CUDA", what + "; it does not run", older_cuda(name, driver));
        }
    }

    /// Where nothing tells a CUDA but the builds for it.
    void builds_by_themselves() {
        if (version_of_name(checked_.records, "cuda-compat")) return;
        const CudaLimits of_driver({*find_record(machine_, "__cuda")});
        std::map<std::string, std::vector<std::string>> names;
        for (const auto& record : checked_.records) {
            const auto& package = record.package;
            if (accelerator_of(package).accelerator != Accelerator::Nvidia) continue;
            if (auto why = of_driver.obstacle_of(package)) names[*why].push_back(record.name());
        }
        for (const auto& [why, found] : names) {
            const auto remedy = older_build(found);
            const auto builds =
                remedy ? remedy->command
                       : checked_.remedies.other_builds(with_variants_of(checked_, found));
            const bool may_be_newer = may_have_driver_for(cuda_told_by(found.front()), machine_);
            add(Grade::Bad,
                found.front(),
                with_others(why, found),
                joined(may_be_newer ? "install a newer driver" : "", builds));
        }
    }

    /// The CUDA that the package tells it is for.
    Version cuda_told_by(const std::string& name) const {
        const auto* record = find_record(checked_.records, name);
        const auto cuda = record == nullptr ? std::nullopt : cuda_of(record->package);
        auto version = Version::parse(cuda.value_or(std::string(kUsualCuda)));
        return version ? *std::move(version) : *Version::parse(kUsualCuda);
    }

    /// The first GPU here that this CUDA makes no code for.
    std::optional<Version> without_code(const Version& toolkit) const {
        const auto release = release_named(Accelerator::Nvidia, toolkit.to_string());
        const auto devices = cuda_devices(machine_);
        const auto device = std::ranges::find_if(devices, [&](const Version& one) {
            return release && code_fit(*release, CudaTarget::of(one)) == CodeFit::No;
        });
        return device == devices.end() ? std::nullopt : std::optional(*device);
    }

    /// By which packages the environment tells its CUDA, and which those are. Those that builds for
    /// NVIDIA's GPUs say that they are for: pytorch of pytorch's channel has a pytorch-cuda, and
    /// beside it whatever cuda-version there is. Where none says so, the first that is there.
    std::vector<std::pair<std::string_view, Version>> cudas_of_environment() const {
        const auto is_named = [&](std::string_view name) {
            return std::ranges::any_of(checked_.records, [&](const PrefixRecord& record) {
                const auto& depends = record.package.depends;
                return std::ranges::find(depends, name, name_in_spec) != depends.end() &&
                       accelerator_of(record.package).accelerator == Accelerator::Nvidia;
            });
        };
        std::vector<std::pair<std::string_view, Version>> named;
        std::vector<std::pair<std::string_view, Version>> others;
        for (const auto name : cuda_version_packages()) {
            if (auto version = version_of_name(checked_.records, name))
                (is_named(name) ? named : others).emplace_back(name, *std::move(version));
        }
        if (named.empty() && !others.empty()) named.push_back(std::move(others.front()));
        return named;
    }

    /// What to do where `name` is of a newer CUDA than the driver. That another version of it is
    /// asked for helps only where all that is installed goes with one.
    std::string older_cuda(std::string_view name, const Version& driver) const {
        auto& remedies = checked_.remedies;
        const auto bound = newest_cuda_here(machine_);
        const std::vector<std::string> specs{std::string(name) + bound};
        const auto remedy = remedies.install(specs);
        const auto toolkit = version_of_name(checked_.records, name);
        const bool may_be_newer =
            bound.starts_with("<=") && toolkit && may_have_driver_for(*toolkit, machine_);
        const auto or_newer_driver = [&](const std::string& text) {
            return joined(may_be_newer ? "install a newer driver" : "", text);
        };
        if (remedy) return or_newer_driver(remedy->command);
        const auto supported =
            fmt::format("{}.{}", version_part(driver, 0), version_part(driver, 1));
        const auto held = held_to_newer(name, supported);
        if (held.empty() && !remedies.can_try())
            return or_newer_driver(
                fmt::format("try an older CUDA, which the installed packages allow: {}",
                            remedies.install_command(specs)));
        if (held.empty())
            return or_newer_driver(fmt::format("no CUDA {} matches the installed packages", bound));
        const auto subject = with_variants_of(checked_, held);
        const auto builds = remedies.other_builds(subject, [&](const PackageRecord& record) {
            return accelerator_of(record).accelerator == Accelerator::Nvidia &&
                   !refuses(record, name, supported);
        });
        return or_newer_driver(
            builds.empty()
                ? fmt::format("no build of {} in these channels is for {} {}", subject, name, bound)
                : builds);
    }

    /// Whether the build does not go with that version of `name`.
    static bool refuses(const PackageRecord& record,
                        std::string_view name,
                        std::string_view version) {
        const auto supported = Version::parse(version);
        const auto excludes = [&](const std::string& text) {
            if (name_in_spec(text) != name) return false;
            const auto spec = MatchSpec::parse(text);
            return spec && !spec->when && spec->version && supported &&
                   !spec->version->matches(*supported);
        };
        return std::ranges::any_of(record.depends, excludes) ||
               std::ranges::any_of(record.constrains, excludes);
    }

    /// Packages of which the installed build does not go with that version of `name`. CUDA's own
    /// are of one CUDA each and follow.
    std::vector<std::string> held_to_newer(std::string_view name, std::string_view version) const {
        std::vector<std::string> bound;
        for (const auto& record : checked_.records) {
            if (!is_part_of_cuda(record.name()) && refuses(record.package, name, version))
                bound.push_back(record.name());
        }
        return bound;
    }

    /// PTX of a newer CUDA than the driver's own it does not compile.
    bool compiles_ptx() const {
        const auto driver = find_version(machine_, "__cuda");
        const auto cudas = cudas_of_environment();
        return !driver || std::ranges::all_of(cudas, [&](const auto& cuda) {
            return driver_fit(cuda.second, *driver) == DriverFit::Native;
        });
    }

    void code() {
        for (auto& finding : check_gpu_code(checked_, compiles_ptx()))
            found_.push_back(std::move(finding));
    }

    /// Packages that do not go together though their records allow it.
    void contradictions() {
        std::vector<PackageRecord> packages;
        packages.reserve(checked_.records.size());
        for (const auto& record : checked_.records) packages.push_back(record.package);
        const auto is_mended = [](const std::vector<PackageRecord>& records) {
            return contradictions_in(records).empty();
        };
        for (const auto& contradiction : contradictions_in(packages)) {
            std::vector<Remedies::Attempt> attempts;
            for (const auto& name : contradiction.packages)
                attempts.emplace_back([this, name] { return checked_.remedies.update(name); });
            const auto remedy = checked_.remedies.first_of(attempts, is_mended);
            add(contradiction.is_certain ? Grade::Bad : Grade::Warning,
                contradiction.subject,
                contradiction.message,
                remedy ? remedy->command : "");
        }
    }

    void accelerators() {
        for (auto& finding : check_accelerators(checked_)) found_.push_back(std::move(finding));
    }

    void old_names() {
        for (const auto& record : checked_.records) {
            if (const auto* old = old_name(record.name()))
                add(Grade::Warning,
                    record.name(),
                    fmt::format("is an outdated way to {}", old->purpose),
                    std::string(old->instead));
        }
        for (const auto& wish : checked_.wishes) {
            const auto asked = build_chosen_by(checked_.records, wish.name);
            if (!asked) continue;
            add(Grade::Warning,
                wish.name,
                "is an outdated package name",
                fmt::format("use {}[accel={}]", asked->package, to_string(asked->accelerator)));
        }
    }

    /// An environment that runs, and leaves the GPU idle.
    void gpu_use() {
        const bool has_gpu = !vendors_with(machine_, has_device).empty();
        const bool uses_it = std::ranges::any_of(checked_.records, [](const auto& record) {
            return accelerator_of(record.package).accelerator != Accelerator::None ||
                   is_vendor_part(record.name());
        });
        if (has_gpu && !uses_it && pip_packages(checked_.prefix, checked_.records).empty())
            add(Grade::Warning, "GPU", "no package of the environment is a GPU build");
    }

    void wheels() {
        for (auto& finding : check_wheels(checked_)) found_.push_back(std::move(finding));
    }

    const Checked& checked_;
    const std::vector<PackageRecord>& machine_;
    /// Why the driver need not run the CUDA that is there; empty: it has to.
    std::string unused_cuda_;
    std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> check_machine(const std::string& name,
                                   const virtual_packages::HardwareProfile& profile,
                                   const Detection& detection,
                                   const std::vector<std::string>& warnings) {
    const bool is_named = name != "this machine" && name != "the machine";
    std::vector<Finding> found;
    found.reserve(warnings.size());
    for (const auto& warning : warnings) {
        // That an override is ignored is told below, by its name.
        const bool is_of_override =
            std::ranges::any_of(detection.overrides, [&](const auto& active) {
                return active.effect == virtual_packages::OverrideEffect::None &&
                       warning.starts_with(active.variable + "=");
            });
        if (!is_of_override) found.push_back({Grade::Warning, "machine", warning, {}});
    }
    if (profile.nvidia_driver && !profile.cuda)
        found.push_back(
            {Grade::Bad,
             "NVIDIA driver",
             fmt::format("the kernel module has version {}, but libcuda.so.1 cannot be used",
                         profile.nvidia_driver->value),
             "the driver library is missing or has another version"});
    const auto is_nvidia = [](const auto& gpu) {
        return gpu.vendor == virtual_packages::GpuVendor::Nvidia;
    };
    if (profile.cuda && std::none_of(profile.gpus.begin(), profile.gpus.end(), is_nvidia))
        found.push_back(
            {Grade::Warning,
             "NVIDIA driver",
             fmt::format("supports CUDA {}, but no device was found", profile.cuda->value),
             {}});
    for (const auto& [package, source] : detection.packages) {
        if (source.starts_with("CONDA_OVERRIDE_") ||
            source.starts_with("override_virtual_packages"))
            found.push_back(
                {Grade::Warning, source, replaced_by(package, is_named ? name : ""), {}});
    }
    for (const auto& [variable, value, effect, text] : detection.overrides) {
        using virtual_packages::OverrideEffect;
        if (effect == OverrideEffect::Drops)
            found.push_back(
                {Grade::Warning, variable, text + "; the detected value is ignored", {}});
        if (effect == OverrideEffect::None)
            found.push_back({Grade::Warning, variable, "has no effect: " + text, {}});
    }
    if (found.empty())
        found.push_back({Grade::Good, is_named ? name : "machine", hardware_text(profile), {}});
    return found;
}

std::vector<Finding> check_environment(const Checked& checked) { return Checkup(checked).run(); }

}  // namespace gpkg::cli
