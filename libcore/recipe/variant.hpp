#pragma once

// Variants: the choices a package was built with, their hash and the build string made of it.
// Two builds of one version that differ in a used choice differ in the hash.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace gpkg {

/// A value of a variant key.
struct VariantValue {
    std::string text;
    /// A truth value, or a whole number of a variants.yaml: it is hashed without quotes, as other
    /// tools do, and an expression takes it for what it is.
    bool is_plain = false;

    VariantValue() = default;
    VariantValue(std::string value, bool plain = false) : text(std::move(value)), is_plain(plain) {}
    VariantValue(const char* value) : text(value) {}

    friend auto operator<=>(const VariantValue&, const VariantValue&) = default;
};

/// Variant key -> value, e.g. {"python": "3.11.* *_cpython", "target_platform": "linux-64"}.
using Variant = std::map<std::string, VariantValue>;

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
