#pragma once

// Variants: the choices a package was built with, their hash and the build string made of it.
// Two builds of one version that differ in a used choice differ in the hash.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gpkg {

/// Variant key -> value, e.g. {"python": "3.11.* *_cpython", "target_platform": "linux-64"}.
/// Values are texts whatever they look like: every tool then hashes the same bytes.
using Variant = std::map<std::string, std::string>;

/// A key as variant files spell it: `-` and `.` become `_`.
std::string variant_key(std::string_view name);

/// The map as it is hashed and as info/hash_input.json holds it: sorted keys, ", " and ": " as
/// separators, ASCII only.
std::string hash_input_text(const Variant& used);

/// The first 7 hex digits of the SHA-1 of hash_input_text().
std::string variant_hash(const Variant& used);

/// "py311h48b7412_5". `used` are the keys that count, `noarch_python` gives the bare "py".
std::string default_build_string(const Variant& used, bool noarch_python, std::uint64_t number);

}  // namespace gpkg
