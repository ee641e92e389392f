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
    /// The newest that a driver supports: of "any" all, of version 0 none.
    static ToolkitVersion of_driver(const Version& version);
    std::string to_string() const;
    int number() const { return major * 100 + minor; }
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
    /// With what the libraries of these releases are compatible with: other minor versions, for
    /// NVIDIA from 11 on.
    ToolkitRange compatible() const;
    /// Of one release, or all of a major version: "12.6", "13".
    std::string named() const;
    /// "CUDA 12.6", "CUDA 12 (12.6 or newer)", "CUDA 11.8 to 12.9".
    std::string to_string() const;
    // clang-tidy 14 takes the 0 of an ordering for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const ToolkitRange&, const ToolkitRange&) = default;
};

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

/// The same of a record of which the parts are known: what its dependencies state, and what its
/// name and version say.
std::optional<ToolkitRange> toolkit_of(const std::optional<ToolkitRange>& stated,
                                       Accelerator accelerator,
                                       std::string_view build,
                                       const std::optional<ToolkitRange>& as_part);
std::optional<ToolkitRange> toolkit_of_dependency(const MatchSpec& dependency);
std::optional<ToolkitRange> toolkit_of_part(std::string_view name, const Version& version);

/// The releases that a dependency on a package that stands for a toolkit takes, to the minor
/// version also where the build goes with all of the major one: 12.1 of "pytorch-cuda 12.1.*".
std::optional<ToolkitRange> releases_of(const MatchSpec& dependency);
/// The release that a build string says a build was compiled with: 12.6 of
/// "cuda126_mkl_h4a15719_0" and "cuda126py312h3fd9d12_200", all of 13 of "cuda13_py312_0".
std::optional<ToolkitRange> compiled_with(Accelerator vendor, std::string_view build);
/// "12.6", or all of a major version: "13". Nothing of any other text.
std::optional<ToolkitRange> release_named(Accelerator vendor, std::string_view text);
/// The releases that a requested spec names, if it is for the toolkit or one of its parts:
/// "cuda-toolkit=11.8".
std::optional<ToolkitRange> toolkit_of_request(const MatchSpec& spec);

/// How what was built with a release of CUDA runs with a driver (NVIDIA, "CUDA Compatibility").
enum class DriverFit {
    Native,        ///< the driver supports that release
    MinorVersion,  ///< from 11 on: a later one of its major version. What needs its PTX compiled
                   ///< does not run.
    Forward,       ///< by a cuda-compat package, on data centre GPUs
    No,
};

/// `driver` is the newest release that the driver supports, `compat` that of a cuda-compat package
/// beside the program.
DriverFit driver_fit(ToolkitVersion release,
                     ToolkitVersion driver,
                     const std::optional<ToolkitVersion>& compat = std::nullopt);
/// The same of full versions.
DriverFit driver_fit(const Version& toolkit,
                     const Version& driver,
                     const std::optional<Version>& compat = std::nullopt);

/// How well a release suits a driver that supports a newest one (nothing: there is no driver); the
/// least is best. Of the driver's major version, up to the driver and the newest first; then later
/// ones, the nearest first: what is compiled at run time does not load; then earlier major
/// versions; then what the driver does not run.
struct ToolkitFit {
    enum class Class { Supported, LaterMinor, EarlierMajor, NotRun };
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

/// The CUDA that a record tells it is for: "12.9" or "12"; nothing where none can be read.
std::optional<std::string> cuda_of(const PackageRecord& record);
/// The one that it goes with where there is one, by what it constrains: of builds that bring none.
std::optional<std::string> cuda_beside(const PackageRecord& record);

}  // namespace gpkg
