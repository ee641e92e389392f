#pragma once

// Whether what was just built tells the truth: every library it needs comes from itself, from a run
// dependency or from the machine; every library it depends on is needed; nothing looks for
// libraries outside of the prefix; drivers are the machine's; the GPU code is what was promised.
// Nothing is changed here.

#include "libcore/base/cancelled.hpp"
#include "libcore/binary/binaries.hpp"
#include "libcore/build/run_exports.hpp"
#include "libcore/recipe/rendered.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// A package of an environment and its files in it, relative to the prefix.
struct EnvironmentFiles {
    std::string name;
    std::vector<std::string> depends;
    std::vector<std::string> files;
};

/// Of every package of the environment at `prefix`; none where there is no environment.
Result<std::vector<EnvironmentFiles>> environment_files(const fs::path& prefix);

struct BinaryCheck {
    const fs::path& prefix;                     ///< where the package and the host environment lie
    const std::vector<std::string>& files;      ///< the package's
    const RenderedOutput& output;               ///< for its allow-lists, what it asks for and why
    const RunDependencies& run;                 ///< what the package will depend on
    const std::vector<EnvironmentFiles>& host;  ///< the host environment
    const std::vector<EnvironmentPackage>& build;  ///< the build environment: compilers
    Cancelled cancelled{};
};

/// Something about the package that is not as it should be.
struct BinaryFinding {
    enum class Kind { Overlinking, Overdepending, DriverLibrary, LibraryPath, GpuCode, Glibc };

    Kind kind = Kind::Overlinking;
    bool is_error = true;  ///< else it is only likely to be wrong
    std::string file;      ///< of the package; empty: it is about the whole
    std::string subject;   ///< the library, dependency, entry or architecture
    std::string message;   ///< names the file first
    std::string hint;      ///< what to write in the recipe

    friend bool operator==(const BinaryFinding&, const BinaryFinding&) = default;
};

struct BinaryReport {
    PackageBinaries binaries;
    std::vector<BinaryFinding> findings;
};

/// Libraries that nothing in the host environment gives are findings where every run dependency is
/// in there. Where one is not, it may be the one that gives it: such a need stays unsettled in
/// `binaries`, for unmet_needs() to settle when all packages of a run are built.
Result<BinaryReport> check_binaries(const BinaryCheck& check);

/// The same for the builder: findings that are errors become one error that tells all of them, each
/// with its hint, others go to `warnings`.
Result<PackageBinaries> checked_binaries(const BinaryCheck& check,
                                         std::vector<std::string>& warnings);

/// Adds `__glibc >=RELEASE` where nothing says which glibc a package needs whose files need that
/// release. None is added for what every machine with a conda client has.
void add_glibc_floor(std::vector<std::string>& depends, const std::string& release);

/// One error of all findings that are one; nothing where there are none.
Result<void> refuse(const std::vector<BinaryFinding>& findings);

}  // namespace gpkg
