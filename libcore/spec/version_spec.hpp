#pragma once

// A question to a version: ">=1.2,<2|3.0", "~=1.4.2", "1.7.*" (CEP 29, CEP 33). `,` is and, binds
// tighter than `|`; parentheses group.

#include "libcore/spec/version.hpp"

#include <memory>

namespace gpkg {

class VersionSpec {
public:
    /// A bare literal is an exact version, as in "numpy 1.26"; `=1.26` and `1.26.*` mean "starts
    /// with".
    static Result<VersionSpec> parse(std::string_view text);

    bool matches(const Version& version) const;

    /// Canonical text; parse(to_string()) equals this. "*" when anything matches.
    std::string to_string() const;

    bool is_any() const;
    /// The literal when the spec is one exact version ("==1.2"), else null.
    const Version* exact() const;
    /// The literal when the spec is one fuzzy version ("=1.2", "1.2.*"), else null.
    const Version* fuzzy() const;

    friend bool operator==(const VersionSpec& a, const VersionSpec& b);
};

}  // namespace gpkg
