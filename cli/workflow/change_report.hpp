#pragma once

// What is printed about a change of an environment: the plan before it, one line about the result
// after it, and the JSON document.

#include "cli/context.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/requested.hpp"
#include "cli/workflow/settings_change.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli {

/// The environment, requested specs and channels; packages in groups; the totals. `requested` are
/// the packages that were requested before. `fetch`: what is not in the store.
void print_change(const Context& context,
                  const Change& change,
                  const SettingsChange& settings,
                  const RequestedSpecs& requested,
                  const std::vector<PackageRecord>& fetch);

/// "3 to install, 1 to remove"; "no packages" where none change.
std::string totals_text(const Change& change);

/// "no packages change; variable A set"
std::string no_packages_text(const SettingsChange& settings, bool is_dry_run);

/// "installed 3 packages and removed 1 in ml", "created ml with 12 packages".
std::string outcome_text(const Context& context, const Change& change);

/// "ml is back at generation 2; to return to 3: gpkg rollback 3 -n ml"
std::string restored_text(const Context& context, const Change& change);

/// The result of a change in conda's JSON shape.
nlohmann::ordered_json change_document(const Change& change,
                                       const SettingsChange& settings,
                                       const std::vector<PackageRecord>& fetch,
                                       const ChangeOptions& options);

}  // namespace gpkg::cli
