#pragma once

// Which builds a request takes where the builds of a package are for different accelerators.

#include "libcore/hardware/accelerator.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct Accelerators {
    AcceleratorChoice all = AcceleratorChoice::Conda;
    std::map<std::string, AcceleratorChoice> of_package{};  ///< which comes before `all`
    /// What `of_package` says of what needs these. Comes after it, and before `all`.
    std::map<std::string, AcceleratorChoice> of_dependency{};
    /// What Auto prefers; nothing: as found_accelerator has it.
    std::optional<Accelerator> preferred{};
    /// What is installed may change to what `all` says, or to what `of_package` says of these. It
    /// stays for the accelerator that it is for otherwise.
    bool all_is_asked = false;
    std::set<std::string> asked_packages{};
    /// A named package that has builds for none alone, in all its versions, makes the request fail;
    /// else it comes as it is. answer() says so where nothing else came for what `all` asks for.
    bool binds_what_has_none = false;
    /// Where there are several to choose from, what `all` may be, the most wanted first
    /// (libcore/solve/answer.hpp).
    std::vector<AcceleratorChoice> in_turn{};

    /// What `all` may be on a machine with these virtual packages; never empty.
    std::vector<AcceleratorChoice> in_turn_on(
        const std::vector<PackageRecord>& virtual_packages) const;
    AcceleratorChoice choice(std::string_view package) const;
    bool is_asked(std::string_view package) const;
    /// Whether builds for other accelerators are not to be taken at all.
    bool is_bound(std::string_view package) const;
    /// The same of one that is named and has builds for no accelerator at all.
    bool is_bound_without_any(std::string_view package) const;
};

/// Whether virtual packages tell of a GPU of the vendor's, with what it runs.
bool has_device(const std::vector<PackageRecord>& virtual_packages, Accelerator vendor);

/// Whether a virtual package tells of a GPU or of a driver of the vendor's: "__cuda_arch".
bool tells_of_vendor(std::string_view virtual_package, Accelerator vendor);

/// Whether they tell of a GPU or of a driver. ROCm alone (__rocm) is a folder that may be anywhere.
bool has_vendor(const std::vector<PackageRecord>& virtual_packages, Accelerator vendor);

/// The vendors of whom that is there: vendors_with(machine, has_device).
using IsThere = bool (*)(const std::vector<PackageRecord>&, Accelerator);
std::vector<Accelerator> vendors_with(const std::vector<PackageRecord>& virtual_packages,
                                      IsThere is_there);

/// "h100 has an NVIDIA GPU", "this machine has no GPU": why builds for the accelerator come first
/// on a machine; empty if the machine is not the reason.
std::string machine_reason(std::string_view machine,
                           const std::vector<PackageRecord>& virtual_packages,
                           Accelerator accelerator);

/// "CUDA 12.9 runs with a driver for CUDA 12.4 (...)": of records of which one is built with a
/// later minor version of CUDA than the driver supports.
std::optional<std::string> note_on_cuda_minor_version(
    const std::vector<PackageRecord>& virtual_packages, const std::vector<PackageRecord>& records);

/// Of choices in the order in which they are to be tried, those that count on a machine: of
/// several, one for a GPU does where there is such a GPU or its driver. All of them where none
/// does.
std::vector<AcceleratorChoice> choices_on(const std::vector<PackageRecord>& virtual_packages,
                                          std::vector<AcceleratorChoice> order);

/// What Auto means with these records installed and these virtual packages: the vendor whose
/// builds are installed, else the vendor whose device is there, else the one whose driver is, else
/// none. Nothing where it could be any of several.
std::optional<Accelerator> found_accelerator(const std::vector<PackageRecord>& installed,
                                             const std::vector<PackageRecord>& virtual_packages);

/// Whether a CUDA is asked for: by what tells one, or by the version of a part of it. Without a
/// driver what runs is for none, and an old build that asks for no driver is no better, but where a
/// version is named that is what is wanted.
bool names_cuda(const std::vector<MatchSpec>& asked,
                const std::vector<PackageRecord>& virtual_packages);

/// Whether an environment builds for NVIDIA's GPUs and runs nothing on them: a part of CUDA that is
/// for building was asked for, no record is a build for NVIDIA, and none is a build for no GPU
/// where there are others, unless that was asked for. What is built may be for another machine, so
/// that its CUDA may be newer than the driver: what cuda-version asks of the driver counts for
/// nothing.
bool only_compiles_for_nvidia(const std::vector<MatchSpec>& asked,
                              const std::vector<PackageRecord>& records,
                              const Accelerators& accelerators);

}  // namespace gpkg
