#pragma once

// A change as the user sees it before and after: the plan, one line about the result, and conda's
// JSON shape.

#include "cli/context.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/requested.hpp"
#include "cli/workflow/settings_change.hpp"
#include "libcore/base/text.hpp"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli {

/// How many packages a change installs, replaces and removes.
struct ChangeCounts {
    std::size_t installed = 0;
    std::size_t upgraded = 0;
    std::size_t downgraded = 0;
    std::size_t rebuilt = 0;      ///< same version, another build
    std::size_t reinstalled = 0;  ///< linked again
    std::size_t removed = 0;
};
ChangeCounts counts_of(const Change& change);

/// The environment, requested specs and channels; packages in groups; the totals. `requested` are
/// the packages that were requested before. `fetch`: what is not in the store.
void print_change(const Context& context,
                  const Change& change,
                  const SettingsChange& settings,
                  const RequestedSpecs& requested,
                  const std::vector<PackageRecord>& fetch);

/// "no packages change; variables (set A) updated"
std::string no_packages_text(const SettingsChange& settings, bool is_dry_run);

/// "installed 3 packages and removed 1 in ml", "created ml with 12 packages".
std::string outcome_text(const Context& context, const Change& change);

nlohmann::ordered_json change_document(const Change& change,
                                       const SettingsChange& settings,
                                       const std::vector<PackageRecord>& fetch,
                                       const ChangeOptions& options);

/// "ml", or the path of an environment without a name.
std::string environment_name(const Context& context, const fs::path& prefix);

/// "numpy 2.1.0 py312h0_0".
std::string title(const PackageRecord& record);

/// "conda-forge" of "https://host/conda-forge", the whole path of a file channel.
std::string short_channel(const std::string& url);

/// A record as conda lists it in changes.
nlohmann::ordered_json to_json(const PackageRecord& record);

}  // namespace gpkg::cli
