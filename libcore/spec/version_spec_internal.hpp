#pragma once

// What a VersionSpec is made of, and reading one as a part of a larger text.

#include "libcore/spec/fault_internal.hpp"
#include "libcore/spec/string_matcher.hpp"
#include "libcore/spec/version_spec.hpp"

#include <variant>
#include <vector>

namespace gpkg {

struct VersionSpec::Node {
    enum class Op {
        Any,
        Equal,
        NotEqual,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        StartsWith,
        NotStartsWith,
        Compatible,  ///< `~=`
        Text,        ///< an inner glob or a regex, asked of the text
        NotText,
        All,
        Either,
    };

    Op op = Op::Any;
    std::optional<Version> version;     ///< what Equal to Compatible compare with
    std::optional<Version> stem;        ///< Compatible: what else the version starts with
    std::optional<StringMatcher> text;  ///< Text, NotText
    std::vector<Node> parts{};          ///< All, Either: at least two

    bool matches(const Version& asked) const;
    void print(std::string& out) const;
    friend bool operator==(const Node& a, const Node& b);
};

namespace grammar {

/// VersionSpec::parse whose failure still is an offset.
Parsed<VersionSpec> read_version_spec(std::string_view text);

}  // namespace grammar
}  // namespace gpkg
