#pragma once

// What packages were built with: the variant keys that their recipe used and the values these had,
// which the build string's hash is made of (info/hash_input.json). They tell more than the records,
// and for the most part the same.

#include "libcore/hardware/variant_columns.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Variant keys and their values.
using VariantInputs = std::map<std::string, std::string>;

/// Whether the key names what builds are made with and on (compilers, images, channels), which is
/// rarely why somebody wants one of them.
bool is_workshop_key(std::string_view key);

/// One of the builds that are told apart.
struct VariantBuild {
    VariantColumns columns;
    std::optional<VariantInputs> inputs;  ///< nothing: not known
};

struct TellingInputs {
    std::vector<std::string> keys;  ///< at most as many as were asked for
    std::vector<std::string> more;  ///< which differ as well, or differ as one of those does
};

/// The variant keys by which `builds` differ, as far as their inputs are known, what says something
/// of the build first, and what of the machine it was made on, last. Not those that repeat one of
/// the columns, nor a name ("cuda_compiler") whose "_version" tells as much.
TellingInputs telling_inputs(std::span<const VariantBuild> builds, std::size_t most);

}  // namespace gpkg
