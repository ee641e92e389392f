#pragma once

// What gpkg build says: of recipes, of what it would build, of what it built.

#include "cli/context.hpp"
#include "cli/workflow/build/outcome.hpp"
#include "libcore/build/plan_builds.hpp"
#include "libcore/recipe/render.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli {

/// The outputs of the recipes as they would be built, each a YAML document. Gives the exit status.
Result<int> print_rendered(Context& context,
                           const std::vector<fs::path>& recipes,
                           const RenderOptions& options);

/// What would be built, and why. Gives the exit status.
Result<int> print_plan(Context& context, const BuildPlan& plan);

/// "saxpy-1.0.0-h9f12974_0: new (accel=cpu, psabi=x86_64_v1)"
std::string planned_text(const PlannedBuild& build);
/// The last line of it.
void print_plan_total(Context& context, const BuildPlan& plan);
/// Says what of it cannot be planned; the same as a list for programs.
nlohmann::ordered_json report_plan_failures(Context& context, const BuildPlan& plan);

/// What came of it, as text or as the one JSON document.
void report_outcome(Context& context, const BuildOutcome& outcome);

}  // namespace gpkg::cli
