#pragma once

// An environment as an environment.yml that makes it again: packages as they are installed, or as
// they were asked for; what pip installed, variables, accelerators.

#include "cli/context.hpp"
#include "cli/workflow/installed.hpp"
#include "libcore/manifest/environment_yml_text.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct ExportOptions {
    bool from_history = false;  ///< what was asked for, as it was asked for
    bool no_builds = false;
    /// The configured channels in place of those that the packages came from.
    bool ignore_channels = false;
    std::vector<std::string> channels;  ///< put before all others
    bool override_channels = false;     ///< no others
    bool with_prefix = false;
};

/// Says on stderr what the file will not bring back.
Result<EnvironmentYml> exported(Context& context,
                                const Installed& installed,
                                const ExportOptions& options);

}  // namespace gpkg::cli
