#pragma once

// Distinct texts by number, in two blocks of memory whatever their count is.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

class TextTable {
public:
    using Number = std::uint32_t;

    /// The number of the text, counted from 0 in the order in which texts were first seen.
    Number add(std::string_view text);
    std::string_view text(Number number) const {
        const auto& piece = pieces_[number];
        return {pool_.data() + piece.offset, piece.size};
    }
    std::size_t size() const { return pieces_.size(); }
    /// All texts one behind the other, and where one stands there.
    const std::string& pool() const { return pool_; }
    std::uint64_t offset(Number number) const { return pieces_[number].offset; }
    bool has(std::string_view text) const;

private:
    struct Piece {
        std::uint64_t offset;
        std::uint32_t size;
        std::uint32_t hash;
    };
    std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
    void grow();

    std::string pool_;
    std::vector<Piece> pieces_;
    std::vector<Number> slots_;  ///< number + 1; 0 is free
};

}  // namespace gpkg
