#pragma once

// What was done to a variable, from what it was and what it is.

#include "libcore/module/captured_activation.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

/// A variable after the scripts were sourced three times: first where it had no value, then with
/// one, then with another. PATH has its value the first time too.
struct SeenVariable {
    std::optional<std::string> second_before;  ///< nothing: it never had one
    std::optional<std::string> third_before;
    std::optional<std::string> first;
    std::optional<std::string> second;
    std::optional<std::string> third;
};

struct SeenEffect {
    VariableEffect effect;
    bool is_regular = true;  ///< else `effect` has no more than the name
};

/// Nothing where the variable is left alone: it has the values from before, or one only where it
/// had one before.
std::optional<SeenEffect> effect_of(const std::string& name, const SeenVariable& seen);

/// Letters, digits and "_", no digit first.
bool is_variable_of_shells(std::string_view name);

}  // namespace gpkg
