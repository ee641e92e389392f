#pragma once

// Variant configuration: the values that there are to choose from when recipes are rendered.
// variant_files.hpp reads it.

#include "libcore/base/error.hpp"
#include "libcore/recipe/variant.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpkg {

struct VariantConfig {
    /// The values of each key, as variant_key() spells it, in the order in which they are built;
    /// never an empty list.
    std::map<std::string, std::vector<VariantValue>> values;
    /// Keys whose values go together, place by place. No key is in two groups; those of a group
    /// that have values have equally many.
    std::vector<std::vector<std::string>> zip_keys;

    /// One value for each key.
    static VariantConfig of(const Variant& variant);

    /// The first value of every key.
    Variant first() const;
    /// What `key` can be, each with the values of the keys that go with it; empty for an unknown
    /// key.
    std::vector<Variant> choices(const std::string& key) const;

    /// What `later` says of a key goes before what was said so far, and a group of its before those
    /// with one of its keys. Fails where keys of a group then have different numbers of values.
    Result<void> override_with(const VariantConfig& later);
};

/// "python=3.12" or "python=3.11,3.12", as --variant has it. Usage errors.
Result<VariantConfig> parse_variant_choice(const std::string& text);

}  // namespace gpkg
