#pragma once

// What a machine and an environment have to say of each other: will what is installed run here?

#include "cli/workflow/health/remedies.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/spec/match_spec.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct Finding {
    enum class Grade { Good, Warning, Bad };
    Grade grade = Grade::Good;
    std::string subject;  ///< "NVIDIA driver", "CUDA", a package
    std::string message;
    std::string hint{};
};

/// Of the machine alone.
std::vector<Finding> check_machine(const virtual_packages::HardwareProfile& profile,
                                   const virtual_packages::Detection& detection,
                                   const std::vector<std::string>& warnings);

/// An environment as its records have it.
struct Checked {
    fs::path prefix;
    const std::vector<PrefixRecord>& records;
    const std::vector<MatchSpec>& wishes;  ///< what was asked for
    const Accelerators& accelerators;      ///< which builds of it
    const virtual_packages::Detection& machine;
    std::string platform;      ///< of the machine
    std::string machine_name;  ///< "this machine", or as --for has it
    const Remedies& remedies;
};

std::vector<Finding> check_environment(const Checked& checked);

std::vector<PackageRecord> packages_of(const std::vector<PrefixRecord>& records);

/// The one of `names`, installed packages, that was asked for; else what was asked for and needs
/// one of them, pytorch where that was pytorch-gpu; else the first.
std::string best_known_of(const Checked& checked, const std::vector<std::string>& names);

}  // namespace gpkg::cli
