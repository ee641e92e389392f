#pragma once

// A large JSON document in pieces that are documents themselves, so that it can be parsed in
// bounded memory: {"a": {"x": 1, "y": {}}, "b": 2} may come as {"a": {"x": 1, "y": {}}} and
// {"b": 2}, or with "a" in two. Whether a piece is valid JSON is for its parser to say: when all
// are, the whole was.

#include "libcore/fs/byte_source.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

struct JsonPiece {
    /// A whole document, with kPadding readable bytes behind it. Valid until the next call.
    std::string_view text;
    /// How many maps, from the outermost in, were opened by an earlier piece already.
    int reopened = 0;
};

class JsonSplitter {
public:
    static constexpr std::size_t kPadding = 64;
    static constexpr int kDeepest = 3;

    struct Options {
        /// A piece ends with the first member that makes it this large.
        std::size_t piece = std::size_t{256} << 10U;
        /// A single member beyond this is refused.
        std::size_t longest_member = std::size_t{256} << 20U;
        /// Up to which depth (at most kDeepest) the maps below a top-level key may be cut between
        /// two members; 1 keeps the value of the key whole.
        int (*depth_of)(std::string_view top_level_key) = nullptr;
    };

    JsonSplitter(ByteSource source, Options options);

    /// Nothing after the last piece. An Integrity error, without a file's name, for a member that
    /// is too long; else what the source says.
    Result<std::optional<JsonPiece>> next();

private:
    Result<bool> fill();
    std::optional<std::size_t> find_cut();
    bool take_bracket(std::size_t at);
    bool may_cut_here() const;
    JsonPiece close_piece(std::size_t end);
    void begin_piece();

    ByteSource source_;
    Options options_;
    std::string buffer_;       ///< the piece at hand and what was read beyond it
    std::size_t size_ = 0;     ///< of what is read in the buffer
    std::size_t scanned_ = 0;  ///< how far the buffer is looked at
    std::size_t cut_ = 0;      ///< where the piece that was given out ends in the buffer
    std::string overwritten_;  ///< what stood behind that end, where closing brackets stand now
    bool at_end_ = false;
    bool done_ = false;

    // What is known at `scanned_`.
    bool in_string_ = false;
    bool escaped_ = false;  ///< the byte before was a backslash that counts
    int depth_ = 0;
    std::array<char, kDeepest + 1> openers_{};      ///< by depth: '{' or '['
    std::array<std::string, kDeepest + 1> keys_{};  ///< by depth: the raw key of that map
    int cut_depth_ = 1;                             ///< of the top-level key at hand
    int reopened_ = 0;
};

}  // namespace gpkg
