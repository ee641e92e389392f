#pragma once

// The condition of a conditional dependency (CEP 43, `numpy[when="python>=3.10 and __unix"]`):
// MatchSpecs joined by `and`, `or` and parentheses. Whether it holds is decided by the solver,
// against the packages of a proposed solution and the virtual packages of the target.

#include "libcore/spec/match_spec.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct Condition {
    enum class Kind { Leaf, And, Or };

    /// Parentheses deeper than this are refused.
    static constexpr int kDeepest = 64;

    Kind kind = Kind::Leaf;
    std::optional<MatchSpec> spec;  ///< of a leaf: true when a package matches it
    std::vector<Condition> parts;   ///< of `and` and `or`: at least two

    /// `and` binds tighter than `or`. A leaf cannot have a condition of its own. "python >=3.9" is
    /// read, as conda and rattler do; CEP 43 writes leaves without spaces outside of brackets.
    static Result<Condition> parse(std::string_view text);

    /// Canonical text; parse(to_string()) equals this.
    std::string to_string() const;

    friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace gpkg
