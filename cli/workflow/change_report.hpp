#pragma once

// What is printed about a change of an environment: the plan before it, one line about the result
// after it, and the JSON document.

#include "cli/context.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/requested.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli {

/// The environment, requested specs and channels; packages in groups; the totals. `requested` are
/// the packages that were requested before. `fetch`: what is not in the store.
Result<void> print_change(const Context& context,
                          const Change& change,
                          const RequestedSpecs& requested,
                          const std::vector<PackageRecord>& fetch);

/// "set A and B, unset C": how a change alters variables of the environment; empty where it does
/// not.
Result<std::string> variables_text(const Change& change);

/// "installed 3 packages and removed 1 in ml", "created ml with 12 packages".
std::string outcome_text(const Context& context, const Change& change);

/// The result of a change in conda's JSON shape.
nlohmann::ordered_json change_document(const Change& change,
                                       const std::vector<PackageRecord>& fetch,
                                       bool dry_run);

}  // namespace gpkg::cli
