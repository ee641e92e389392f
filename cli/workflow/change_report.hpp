#pragma once

// A change as the user sees it before and after: a table, and conda's JSON shape.

#include "cli/output.hpp"
#include "cli/workflow/change.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli {

/// What happens, to what, from where, and what of it must be fetched.
void print_change(Output& out, const Change& change, const std::vector<PackageRecord>& fetch);

nlohmann::ordered_json change_document(const Change& change,
                                       const std::vector<PackageRecord>& fetch,
                                       bool dry_run);

/// "numpy 2.1.0 py312h0_0".
std::string title(const PackageRecord& record);

/// "conda-forge" of "https://host/conda-forge", the whole path of a file channel.
std::string short_channel(const std::string& url);

/// A record as conda lists it in changes.
nlohmann::ordered_json to_json(const PackageRecord& record);

}  // namespace gpkg::cli
