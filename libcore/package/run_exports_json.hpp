#pragma once

// RunExports as packages (info/run_exports.json) and channels (run_exports.json, CEP 12) write it.

#include "libcore/package/info.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gpkg {

/// An object with the kinds that hold specs; {} when none does.
nlohmann::json run_exports_json(const RunExports& exports);

}  // namespace gpkg
