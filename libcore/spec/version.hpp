#pragma once

// A version literal and its order (CEP 33): "1!2.15.1alpha_+local.3". Version specs, which ask
// questions of versions, are in version_spec.hpp.

#include "libcore/base/error.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

class Version {
public:
    /// Reads a literal, case-insensitively. The error shows the text with a caret under the place.
    static Result<Version> parse(std::string_view text);

    /// The literal in lower case, otherwise as written.
    const std::string& to_string() const { return text_; }

    /// CEP 33's order; versions that differ only in trailing zeros or spelling are equivalent
    /// (1.1 and 1.1.0), so this is a weak order on texts.
    friend std::weak_ordering operator<=>(const Version& a, const Version& b);
    friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }

    /// The prefix test behind `=1.2`, `1.2.*` and `~=` (conda-standards 3.4): whole segments and
    /// whole identifiers; a prefix with a local part demands an equal main part.
    bool starts_with(const Version& prefix) const;

    /// Equal versions give equal hashes.
    std::size_t hash() const;
};

}  // namespace gpkg
