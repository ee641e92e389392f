#pragma once

// Platform selectors of environment.yml (CEP 24), in both styles.

#include "libcore/base/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg::manifest {

/// `linux and (x86_64 or aarch64)` asked about a platform such as "linux-64". `not` is understood
/// too, as in conda-build. The error says which word is wrong.
Result<bool> evaluate_selector(std::string_view expression, std::string_view platform);

/// Whether a text in brackets is meant as a selector: one of its words is a name that selectors
/// know, or is near one. "[optional]" is a remark, as all comments are for conda.
bool is_meant_as_selector(std::string_view text);

/// The expression of a key `sel(expression)`; nothing for any other key.
std::optional<std::string_view> selector_of_key(std::string_view key);

/// `unix`, `linux`, `osx` or `win`, all that a `sel(...)` key may ask.
Result<bool> evaluate_key_selector(std::string_view expression, std::string_view platform);

}  // namespace gpkg::manifest
