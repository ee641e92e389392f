#pragma once

#include "libcore/config/config.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gpkg::cli {

/// The value of a setting: a text, a
/// list of texts, null where it has none, or for a map by name a text or, of several, a list.
nlohmann::ordered_json setting_json(const ShownSetting& setting);

}  // namespace gpkg::cli
