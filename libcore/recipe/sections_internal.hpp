#pragma once

// Reading one key of a section, shared by the files that read sections.

#include "libcore/recipe/rendered.hpp"
#include "libcore/recipe/tree.hpp"

namespace gpkg::sections {

/// Reads `key` of `tree` into `target` when it is there.
Result<void> take(const Tree& tree, std::string_view key, std::string& target);
Result<void> take(const Tree& tree, std::string_view key, std::vector<std::string>& target);
Result<void> take(const Tree& tree, std::string_view key, bool& target);

/// Fails when one of `keys` is there: valid in a recipe, but nothing gpkg can build.
Result<void> refuse(const Tree& tree,
                    std::string_view what,
                    std::initializer_list<std::string_view> keys);

/// Dependencies, or one: positional MatchSpecs and open pins (pin.hpp). Null: none.
Result<std::vector<std::string>> read_specs(const Tree* tree, SpecPlaces* places = nullptr);

/// A script that is a map (CEP 14); `what` it is, for errors. Its file is looked for in `folder`.
Result<BuildScript> read_script_map(const Tree& tree,
                                    std::string_view what,
                                    const fs::path& folder);

}  // namespace gpkg::sections
