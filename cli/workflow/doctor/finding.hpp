#pragma once

// What a machine and an environment have to say of each other, finding by finding.

#include "cli/workflow/doctor/remedies.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/old_names.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/spec/match_spec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct Finding {
    enum class Grade {
        Good,
        Warning,
        Unknown,  ///< bad if an assumed value of the machine is right
        Bad,
    };
    Grade grade = Grade::Good;
    std::string subject;  ///< "NVIDIA driver", "CUDA", a package
    std::string message;
    std::string hint{};
};

/// An environment as its records have it.
struct Checked {
    fs::path prefix;
    std::string name;  ///< "ml", or the path of an environment without a name
    const std::vector<PrefixRecord>& records;
    const std::vector<MatchSpec>& wishes;  ///< what was asked for
    const Accelerators& accelerators;      ///< which builds of it
    const Seen& seen;                      ///< the machine
    Remedies& remedies;

    const std::vector<PackageRecord>& machine() const { return seen.virtual_packages; }
    /// "this machine", or as --for has it.
    const std::string& machine_name() const { return seen.machine.name; }
};

/// The one of `names`, installed packages, that was asked for; else what was asked for and needs
/// one of them, pytorch where that was pytorch-gpu; else the first.
std::string best_known_of(const Checked& checked, const std::vector<std::string>& names);

/// The one of `names`, installed packages, of which other builds are worth looking at: one that was
/// asked for, else one that is itself a build for an accelerator, else the first. Of cuda-version
/// and the like one that goes with it.
std::string with_variants_of(const Checked& checked, const std::vector<std::string>& names);

bool is_asked_for(const Checked& checked, const std::string& name);

/// pytorch and none of "pytorch-cpu", a package that is there to choose pytorch's build.
std::optional<BuildInName> build_chosen_by(const std::vector<PrefixRecord>& records,
                                           const std::string& name);

/// "is a CUDA build, but h100 has no NVIDIA GPU"
std::string for_no_gpu_of(const std::string& machine, Accelerator accelerator);

/// What is found of the first of these, "; so are ..." for the others.
std::string with_others(std::string message, const std::vector<std::string>& names);

}  // namespace gpkg::cli
