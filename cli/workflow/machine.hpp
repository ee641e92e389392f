#pragma once

// The machine that is decided for: this one, as detected, or the one that --for names.

#include "cli/context.hpp"
#include "cli/workflow/source_options.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/package_record.hpp"
#include "virtual-packages/devices.hpp"
#include "virtual-packages/profile.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpkg::cli {

struct Machine {
    std::string platform;  ///< the subdir that is decided for
    /// What people call it: "this machine", "platform osx-arm64", "h100".
    std::string name = "this machine";
    std::string given{};  ///< --for as it was given; empty: this machine
    /// What --for names. Without one this machine is asked, and only when that is needed.
    std::optional<virtual_packages::HardwareProfile> profile;
    virtual_packages::DeviceChoice devices;  ///< of this machine; a profile has no others
};

/// What --devices says, else the setting. Numbers in that are those of this machine: they say
/// nothing of one that --for names.
Result<virtual_packages::DeviceChoice> device_choice(const Context& context,
                                                     const SourceOptions& options);

/// What the flags --for, --devices and --platform say, or settings in their place. Usage errors for
/// a platform that does not exist, or that is not the profile's, and for a device that it does not
/// have.
Result<Machine> machine_of(const Context& context, const SourceOptions& options);

/// What gpkg assumes of a machine as --for gives it, and how to change that: "assumed for h100:
/// cuda=12.8, glibc=2.28 and linux=4.18; ..."; nothing if every value is known. With unmet needs
/// ("... needs __glibc >=2.34 (2.28 is assumed)"), the example has a value for the first that is
/// about an assumed one; nothing where none is.
std::optional<std::string> assumed_note(const std::string& given,
                                        const std::vector<PackageRecord>& virtual_packages,
                                        const std::vector<std::string>& unmet = {});

/// How a command gives the machine (`given`: as --for has it; empty: this machine) a value that
/// meets the need: "--for h100,glibc=2.34", "CONDA_OVERRIDE_GLIBC=2.34".
std::string how_to_give(const std::string& given, const UnmetNeed& need);

/// CONDA_OVERRIDE_ variables describe this machine, and a lock is for the machines as --for names
/// them: a context without the variables, and a note that says so.
Context without_overrides(const Context& context);

/// --for and --devices as they were given, each after a blank: for a command that is to decide for
/// the same machine.
std::string machine_flags(const SourceOptions& options);

/// What the machine offers, as records for a solve. Warnings go to the user.
Result<std::vector<PackageRecord>> detected_packages(Context& context, const Machine& machine);
/// The same with other variables in the environment, and nothing said.
std::vector<PackageRecord> virtual_packages_with(const Context& context,
                                                 const Machine& machine,
                                                 EnvLookup env);

/// This machine as detectors see it, with the user's variables and a memory for answers.
virtual_packages::Host host_of(const Context& context);

/// What detectors beyond gpkg's own may find, and so variables can override.
std::vector<std::string> detectable_packages(const Context& context);

using OverrideMap = std::map<std::string, std::string, std::less<>>;  ///< by their variables

/// What `override_virtual_packages` says, as if it stood in CONDA_OVERRIDE_ variables, which go
/// before it. It is about machines that nobody described: of one that is named with --for it says
/// nothing.
OverrideMap configured_overrides(const Context& context, bool is_named);

/// The variables of the CONDA_OVERRIDE_ family that are set, whether they mean anything or not.
OverrideMap set_overrides(const Context& context);

/// The virtual packages of a machine with these facts, with all that overrides them.
virtual_packages::Detection judged(const Context& context,
                                   const virtual_packages::HardwareProfile& profile,
                                   const std::string& platform,
                                   bool is_named);

/// Adds those that nobody listens to, as their names may be misspelt, and names the settings file
/// as the source of what it sets.
void explain_overrides(const Context& context,
                       virtual_packages::Detection& detection,
                       bool is_named);

/// Where profiles are kept: the user's own, then the site's.
std::vector<fs::path> profile_folders(const Config& config);

}  // namespace gpkg::cli
