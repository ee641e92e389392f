#pragma once

// What a change alters in an environment besides its packages.

#include "cli/workflow/change.hpp"
#include "cli/workflow/requested.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// The specs that a change requests by name; none for names that are no longer requested.
RequestedSpecs requested_by_name(const Change& change);

struct SettingsChange {
    std::vector<std::string> set;    ///< names of variables that get another value
    std::vector<std::string> unset;  ///< names of variables that are removed
    bool requested_specs = false;
    std::vector<std::string> requested_changes;  ///< "numpy<2 -> numpy"
    bool channels = false;                       ///< those that the environment uses
    bool environment_settings = false;
    std::string accelerator;  ///< builds_text() of the new accelerator, where it changes
    bool package_metadata = false;

    bool is_nothing() const {
        return set.empty() && unset.empty() && !requested_specs && !channels &&
               !environment_settings && !package_metadata;
    }
};

/// Compares the change with the environment as it is on disk. Of a new environment, and where
/// packages change other than by a rollback, only the variables are compared.
Result<SettingsChange> settings_change(const Change& change);

/// "CPU builds only (accelerator none)", for an accelerator as GpkgState has it; empty: none
/// stored.
std::string builds_text(const std::string& accelerator);

/// "set A and B, unset C"; empty where no variable changes.
std::string variables_text(const SettingsChange& settings);

/// "requested specs (numpy<2 -> numpy) and channels": without variables; empty where nothing else
/// changes.
std::string settings_text(const SettingsChange& settings);

}  // namespace gpkg::cli
