#pragma once

// The bracket section of a MatchSpec: `[key=value, key='va"lue', key=[a, 'b']]`. Knows quotes and
// lists, not what the keys mean.

#include "libcore/spec/fault_internal.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::grammar {

struct BracketValue {
    std::string text;                    ///< without quotes and escapes
    std::size_t at = 0;                  ///< where its first character stands
    std::vector<std::size_t> escapes{};  ///< offsets in `text` before which a backslash was dropped

    /// Where the character at `offset` of `text` stands in the whole.
    std::size_t place(std::size_t offset) const;
};

struct BracketEntry {
    std::string key;
    std::size_t key_at = 0;
    std::vector<BracketValue> values;  ///< one, unless it is a list
    bool is_list = false;
};

struct Brackets {
    std::vector<BracketEntry> entries;
    std::size_t end = 0;  ///< behind the closing bracket
};

/// Reads from the '[' at `begin`. Offsets count from the start of `text`.
Parsed<Brackets> read_brackets(std::string_view text, std::size_t begin);

/// The value in quotes, such that read_brackets gives it back.
std::string quoted_value(std::string_view value);

}  // namespace gpkg::grammar
