#pragma once

// What could be done about an environment, as commands that were tried: decided with what is known
// of the channels without asking anybody, as a checkup fetches nothing.

#include "cli/context.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/spec/package_record.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct Remedy {
    std::string command;                 ///< with its downgrades as a comment
    std::vector<PackageRecord> records;  ///< what the environment has then

    /// Whether it does anything to an environment that has these.
    bool changes(const std::vector<PrefixRecord>& before) const;
};

/// The CUDAs that the driver runs and that make code for every GPU of the machine, as the end of a
/// spec: "<=12.4", or "<13" where its GPUs are older than the driver's CUDA. Empty without a
/// driver.
std::string newest_cuda_here(const std::vector<PackageRecord>& machine);

class Remedies {
public:
    /// Of the environment at `prefix`, on a machine that was looked at. `sources` name it, and the
    /// channels. They are opened where something is to be tried.
    Remedies(Context& context,
             const SourceOptions& sources,
             const Seen& seen,
             const fs::path& prefix,
             const std::vector<PrefixRecord>& records);

    /// Installs what these specs ask for, `NAME[accel=...]` included: of packages that are there
    /// and of those that tell a CUDA. Nothing where that is not known to work.
    std::optional<Remedy> install(const std::vector<std::string>& specs);
    std::optional<Remedy> update(const std::string& name);

    using Attempt = std::function<std::optional<Remedy>()>;
    /// The first that changes the environment to what `helps`. What comes behind it is not tried.
    std::optional<Remedy> first_of(
        const std::vector<Attempt>& attempts,
        const std::function<bool(const std::vector<PackageRecord>&)>& helps);

    /// Whether enough is known of the channels: what is not known to work then does not.
    bool can_try();

    using Fits = std::function<bool(const PackageRecord&)>;
    /// The newest build of the package, other than the installed one, that fits and that the
    /// machine runs with all that it needs. Nothing where none is known.
    std::optional<PackageRecord> other_build(const std::string& name, const Fits& fits);
    /// Brings other_build() into the environment; else the command that lists it among the builds.
    /// Empty where the channels have no such build.
    std::string other_builds(const std::string& name, const Fits& fits);
    /// The same for builds that only have to run. Never empty: says that there is none.
    std::string other_builds(const std::string& name);

    /// "gpkg install -n ml 'cuda-version<=12.4' --for a100", tried or not.
    std::string install_command(const std::vector<std::string>& specs) const;
    /// "gpkg variants torch --for a100"
    std::string variants_command(const std::string& spec) const;

private:
    std::string flags() const;
    std::string command(std::string_view verb, const std::vector<std::string>& words) const;
    std::optional<Remedy> tried(ChangeRequest request, std::string command);
    const Sources* opened();

    Context& context_;
    SourceOptions options_;
    Seen seen_;
    fs::path prefix_;
    const std::vector<PrefixRecord>& records_;
    std::optional<Result<Sources>> sources_;
};

}  // namespace gpkg::cli
