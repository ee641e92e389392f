#pragma once

// Which class of a lock file a machine takes.

#include "libcore/classes/made_for.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/hardware/cascade.hpp"
#include "libcore/lock/lock_file.hpp"
#include "libcore/spec/match_spec.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

/// Which builds for GPUs a class has, as the machine is and as it was asked for.
enum class GpuBuilds {
    None,
    ForGpuThere,
    ForDriverThere,     ///< of which there is no GPU
    ForGpuAskedFor,     ///< of which there is nothing
    ForGpuNotThere,     ///< and not asked for
    ForGpuNotAskedFor,  ///< but there
};

/// How a class stands to a machine.
struct ClassFit {
    const LockedClass* locked = nullptr;
    /// Its needs, and what restricts packages the machine has: one range for each of them.
    std::vector<std::string> asked;
    std::vector<std::string> unmet;  ///< of its needs, and its platform
    /// Needs above a value that is only assumed for the machine: "needs __glibc >=2.36 (2.28 is
    /// assumed)". The class fits, as it was made for such a machine with another value.
    std::vector<std::string> unknown{};
    /// Above 0: it has builds for a GPU that is meant, the higher the earlier that was asked for;
    /// below: for others only.
    int gpu = 0;
    GpuBuilds builds = GpuBuilds::None;          ///< which those are
    Accelerator builds_for = Accelerator::None;  ///< whose GPUs those builds are for
    /// Which builds for a GPU say that they do not run on what is there, though it meets all needs:
    /// "cupy-core 14.1 needs cuda-version >=13,<14, which does not support ...". In locks of other
    /// tools, which look at dependencies alone, also packages whose run constraints the machine
    /// breaks: "cuda-version 13.0 allows only __cuda >=13 (found 12.8)".
    std::vector<std::string> will_not_run{};
    /// 0 where the machine lacks something of every machine that the class was made for. Else, of
    /// the machines that classes were made for and that this one covers, how many have no more than
    /// the best of the class' own. Where some class has builds for the machine's GPU, machines
    /// without such a GPU do not count. If that is 0 for all classes, assumed values of the machine
    /// do not count.
    std::size_t made_for = 0;
    /// Of the packages that all classes for the platform have, how many are builds for a GPU that
    /// is meant.
    std::size_t shared_builds = 0;
    Closeness closeness{};  ///< the closest that any of its packages is

    /// What its builds for GPUs are of use with, of which the machine has nothing.
    std::vector<std::string> missed{};

    bool fits() const { return unmet.empty(); }
    bool runs() const { return will_not_run.empty(); }
};

/// What the builds for GPUs of a class are of use with beside its needs: what its packages ask of a
/// driver without asking that there is one, as cupy does by way of cuda-version ("__cuda >=12").
/// Nothing where it has no builds for GPUs, or only builds for them.
std::vector<std::string> useful_with(const LockFile& lock, const LockedClass& locked);

/// What its packages restrict of a machine beside its needs: it counts where the machine has such a
/// virtual package, and what they are useful with is among it. "__cuda >=11.2,<13".
std::vector<std::string> restrictions_beside_needs(const LockFile& lock, const LockedClass& locked);

/// A class for the GPU of the other vendor that the machine could take as well as the first; null
/// where there is nothing to choose.
const ClassFit* other_vendors(const std::vector<ClassFit>& fits);

/// The classes of a lock's default environment, as far as they say the same of every machine.
class ClassesOfLock {
public:
    /// The lock must outlive it.
    explicit ClassesOfLock(const LockFile& lock);

    /// Every class, the best first: those that fit; of those, that run; with builds for the GPU
    /// that is there, as it was asked for; made for more of what the machine is; without builds for
    /// a GPU that is not there; closer to the machine; that ask for more, and for higher versions;
    /// and then by name.
    std::vector<ClassFit> fits(std::string_view platform,
                               const std::vector<PackageRecord>& virtual_packages) const;

private:
    struct GpuBuild {
        PackageRecord record;
        Accelerator accelerator = Accelerator::None;  ///< None: for either's, or by its name alone
        bool is_shared = false;                       ///< all classes for the platform have one
    };
    struct Class {
        const LockedClass* locked = nullptr;
        AcceleratorWishes wishes;
        std::vector<std::string> restrictions;  ///< of virtual packages by its packages
        /// Of another tool's lock: such restrictions, and the packages that have them.
        std::vector<std::pair<std::string, std::string>> restricting;
        std::vector<std::string> useful_with;
        std::vector<GpuBuild> for_gpus;
        std::vector<PackageRecord> parts;   ///< of CUDA, one of each that go with the same
        std::vector<MatchSpec> on_machine;  ///< dependencies that say what a package is made for
    };

    std::vector<Class> classes_;
    MachinesOfClasses made_for_;
};

/// The same for one machine.
std::vector<ClassFit> fits_of(const LockFile& lock,
                              std::string_view platform,
                              const std::vector<PackageRecord>& virtual_packages);

}  // namespace gpkg
