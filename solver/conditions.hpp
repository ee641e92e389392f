#pragma once

// When a conditional dependency applies (CEP 43, 44): `and` and `or` over specs that a package of
// the solution matches and over extras that the solution or the request asks for. There is no
// `not`, so a larger answer never makes a condition false. What the machine decides is folded away:
// a condition is a constant or has no virtual package in it.

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::solver {

using NameId = std::uint32_t;
using SpecId = std::uint32_t;
using ConditionId = std::uint32_t;

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
inline constexpr ConditionId kAlways = kNone - 1;
inline constexpr ConditionId kNever = kNone - 2;

struct ConditionNode {
    enum class Kind { Leaf, Extra, And, Or };
    Kind kind = Kind::Leaf;
    SpecId spec = kNone;  ///< Leaf: a package of the answer matches it
    NameId name = kNone;  ///< Extra: somebody asks for `group` of this name
    std::string group{};
    ConditionId left = kNone;  ///< And, Or: numbers below their own
    ConditionId right = kNone;

    // clang-tidy 14 takes the 0 of an ordering for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const ConditionNode&, const ConditionNode&) = default;
};

/// Every distinct condition once.
class Conditions {
public:
    ConditionId leaf(SpecId spec);
    ConditionId extra(NameId name, std::string_view group);
    /// `a` and `b`, or `a` or `b`.
    ConditionId join(ConditionNode::Kind kind, ConditionId a, ConditionId b);

    std::size_t size() const { return nodes_.size(); }
    const ConditionNode& operator[](ConditionId id) const { return nodes_[id]; }
    /// The condition and all that it is made of; nothing of a constant.
    std::vector<ConditionId> parts_of(ConditionId id) const;

private:
    ConditionId intern(const ConditionNode& node);

    std::vector<ConditionNode> nodes_;
    std::map<ConditionNode, ConditionId> known_;
};

}  // namespace gpkg::solver
