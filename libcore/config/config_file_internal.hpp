#pragma once

// config.yaml as text: reading its keys into a Config. Loading and editing share it, so that an
// edit that could not be loaded is refused.

#include "libcore/config/config.hpp"

namespace gpkg {

/// Takes the keys of the document `text`, which stands at `file`, into `config`.
Result<void> apply_config_file(std::string_view text, const fs::path& file, Config& config);

/// A platform's name has the form "linux-64" (CEP 26).
bool is_platform_name(std::string_view name);

}  // namespace gpkg
