#pragma once

// A question to a version: ">=1.2,<2|3.0", "~=1.4.2", "1.7.*" (CEP 29, CEP 33). `,` is and, binds
// tighter than `|`; parentheses group.

#include "libcore/spec/version.hpp"

#include <memory>
#include <vector>

namespace gpkg {

class VersionSpec {
public:
    /// Texts longer than this are refused, as are parentheses deeper than kDeepest.
    static constexpr std::size_t kLongest = 8192;
    static constexpr int kDeepest = 64;

    /// Matches every version.
    VersionSpec();

    /// A bare literal is an exact version, as in "numpy 1.26"; `=1.26` and `1.26.*` mean "starts
    /// with". Oddities of old channels are read as their authors meant them: `2.7.*.*`,
    /// `0.2.18.*.`, `>=2.0.*`. A star elsewhere makes the text of the version a glob: `1.*.3`,
    /// `*.*`. A star without a dot behind `<`, `<=`, `>` or `>=` is read as conda does: `>1.0*`
    /// takes all versions that start with 1.0 and all later ones.
    static Result<VersionSpec> parse(std::string_view text);
    static VersionSpec equal_to(Version version);

    bool matches(const Version& version) const;

    /// Canonical text; parse(to_string()) equals this. "*" when anything matches.
    std::string to_string() const;

    bool is_any() const;
    /// The literal when the spec is one exact version ("==1.2"), else null.
    const Version* exact() const;
    /// The literal when the spec is one fuzzy version ("=1.2", "1.2.*"), else null.
    const Version* fuzzy() const;

    /// The versions that it speaks of: 3.8 and 3.9.0a0 of ">=3.8,<3.9.0a0".
    std::vector<Version> literals() const;
    /// Those of them that it takes itself: 3.8, but not the bound that is out. The least of them is
    /// what it asks for at least.
    std::vector<Version> own_literals() const;

    /// Equal as questions are written: "1.2" and "1.2.0" differ, "=1.2" and "1.2.*" do not.
    friend bool operator==(const VersionSpec& a, const VersionSpec& b);

    /// One node of the question; only version_spec.cpp looks inside.
    struct Node;

private:
    friend class VersionSpecReader;
    explicit VersionSpec(std::shared_ptr<const Node> root);

    std::shared_ptr<const Node> root_;  ///< shared by copies, never changed
};

}  // namespace gpkg
