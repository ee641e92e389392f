#pragma once

// The toolkit of a vendor that a build was made with or for: CUDA 12.6, ROCm 6.4. No standard says
// it, so it is read from what builds have. What is read once here decides everywhere: which builds
// go together, what a driver runs, what `list` and `doctor` show.

#include "libcore/hardware/accelerator.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// A release of a toolkit. Patches do not count: they go with each other.
struct ToolkitVersion {
    static constexpr int kLastMinor = 99;  ///< "12.99": whatever comes last of 12
    int major = 0;
    int minor = 0;

    static std::optional<ToolkitVersion> of(const Version& version);
    std::string to_string() const;
    // clang-tidy 14 takes the 0 of an ordering for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const ToolkitVersion&, const ToolkitVersion&) = default;
};

/// The releases of a vendor's toolkit that a build goes with, both ends included.
struct ToolkitRange {
    Accelerator vendor = Accelerator::Nvidia;
    ToolkitVersion first;
    ToolkitVersion last;

    bool contains(ToolkitVersion version) const { return first <= version && version <= last; }
    bool overlaps(const ToolkitRange& other) const {
        return first <= other.last && other.first <= last;
    }
    /// What both contain; only of ranges that overlap.
    ToolkitRange common_with(const ToolkitRange& other) const {
        return {vendor, std::max(first, other.first), std::min(last, other.last)};
    }
    /// With all minor versions of its major versions.
    ToolkitRange whole_majors() const;
    /// "CUDA 12.6", "CUDA 12 (12.6 or newer)", "CUDA 11.8 to 12.9".
    std::string to_string() const;
    // clang-tidy 14 takes the 0 of an ordering for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const ToolkitRange&, const ToolkitRange&) = default;
};

/// "CUDA", "ROCm"
std::string_view toolkit_title(Accelerator vendor);

/// Whether a package is a part of a vendor's toolkit or stands for one: "cuda-nvcc",
/// "pytorch-cuda".
bool is_toolkit_part(std::string_view name);

/// What a record says of its toolkit, by the first of these that says anything:
///
///   1  a dependency on a package that stands for a toolkit (`cuda-version >=12.6,<13`)
///   2  its build string, for builds for the vendor's GPUs: what is compiled with 12.6 goes with
///      12.6 and newer releases of that major version (`cuda126_...`); before 11, with that alone
///   3  its name and version, for parts of the toolkit: cuda-nvcc 12.4.131 likewise; libcufft 11,
///      whose version is not CUDA's, with any release of CUDA 12
///
/// What it constrains says nothing: it need not be there.
std::optional<ToolkitRange> toolkit_of(const PackageRecord& record);

/// The same piece by piece, for a solver.
std::optional<ToolkitRange> toolkit_of_dependency(const MatchSpec& dependency);
std::optional<ToolkitRange> toolkit_of_build(Accelerator vendor, std::string_view build);
std::optional<ToolkitRange> toolkit_of_part(std::string_view name, const Version& version);
/// The releases that a requested spec names, if it is for the toolkit or one of its parts:
/// "cuda-toolkit=11.8".
std::optional<ToolkitRange> toolkit_of_request(const MatchSpec& spec);

/// How well a release suits a driver that supports a newest one (nothing: there is no driver); the
/// least is best. Of the driver's major version, up to the driver and the newest first; then later
/// ones, the nearest first: what is compiled at run time does not load; then earlier major
/// versions; then later ones, which the driver does not run.
struct ToolkitFit {
    enum class Class { Supported, LaterMinor, EarlierMajor, LaterMajor };
    Class how = Class::Supported;
    int distance = 0;
    // clang-tidy 14 takes the 0 of an ordering for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const ToolkitFit&, const ToolkitFit&) = default;
};
ToolkitFit toolkit_fit(ToolkitVersion version, std::optional<ToolkitVersion> driver);
/// Of the release in the range that suits the driver best.
ToolkitFit toolkit_fit(const ToolkitRange& range, std::optional<ToolkitVersion> driver);
/// What the driver of a machine with these virtual packages supports; nothing where there is none.
std::optional<ToolkitVersion> driver_release(const std::vector<PackageRecord>& virtual_packages,
                                             Accelerator vendor);

/// 12.6 of "cuda126_mkl_h4a15719_0" and "cuda126py312h3fd9d12_200". Nothing for a major version
/// alone.
std::optional<Version> toolkit_of_build(std::string_view build);

/// Those that a dependency on a package like cuda-version takes, of all that are known and those
/// that it names: 12.6, 12.8, 12.9 of "cuda-version >=12.6,<13". Empty where it is on another
/// package, and where it takes none of them.
std::vector<Version> toolkits_of(const MatchSpec& dependency);

/// The CUDA that a record tells it is for: "12.9" or "12"; nothing where none can be read.
std::optional<std::string> cuda_of(const PackageRecord& record);

}  // namespace gpkg
