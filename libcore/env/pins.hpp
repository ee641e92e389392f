#pragma once

// conda-meta/pinned: one spec a line, which every solve in the environment meets. conda and mamba
// read the same file.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/match_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The text of the file with this pin in place of earlier ones for the same package. Comments and
/// lines that are not specs stay.
std::string with_pin(std::string_view text, const MatchSpec& pin);
/// The text without the pins of this package.
std::string without_pin(std::string_view text, std::string_view name);

/// The file's text; empty where there is no file.
Result<std::string> read_pins(const fs::path& prefix);
/// Writes the file, or removes it where `text` has nothing but blanks. The caller holds the
/// prefix's lock.
Result<void> write_pins(const fs::path& prefix, std::string_view text);

}  // namespace gpkg
