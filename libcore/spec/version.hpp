#pragma once

// A version literal and its order (CEP 33): "1!2.15.1alpha_+local.3". Version specs, which ask
// questions of versions, are in version_spec.hpp.

#include "libcore/base/error.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

namespace grammar {
class VersionReader;
}

class Version {
public:
    /// Literals longer than this are refused; CEP 26 allows 64 characters.
    static constexpr std::size_t kLongest = 256;

    /// Reads a literal, case-insensitively. The error shows the text with a caret under the place.
    static Result<Version> parse(std::string_view text);
    static Version from_number(std::uint64_t number);

    /// The literal in lower case, otherwise as written.
    const std::string& to_string() const { return text_; }

    /// CEP 33's order; versions that differ only in trailing zeros or spelling are equivalent
    /// (1.1 and 1.1.0), so this is a weak order on texts.
    friend std::weak_ordering operator<=>(const Version& a, const Version& b);
    friend bool operator==(const Version& a, const Version& b) { return std::is_eq(a <=> b); }

    /// The prefix test behind `=1.2`, `1.2.*` and `~=`: whole segments and
    /// whole identifiers; a prefix with a local part demands an equal main part.
    bool starts_with(const Version& prefix) const;

    /// The main part without its last segment, the stem of `~=`: 1.2 for 1.2.3+local. Empty when
    /// there is only one segment.
    std::optional<Version> without_last_segment() const;

    bool has_local() const { return main_count_ < count_; }

    /// Equal versions give equal hashes.
    std::size_t hash() const;

private:
    friend class grammar::VersionReader;

    // A version is a row of 64-bit units that compare as plain integers; most need no memory of
    // their own for it. From the top bit: 4 bits rank (dev < text < number < post), 59 bits
    // payload, 1 bit "opens a segment". The payload of a number is its value; of a text its first
    // 7 letters. What does not fit goes on in further units of the highest rank. The epoch is the
    // first unit; the local part follows the main part.
    using Unit = std::uint64_t;
    static constexpr std::size_t kInline = 8;

    Version() = default;
    void append(Unit unit);
    std::span<const Unit> units() const {
        return {count_ > kInline ? many_.data() : few_.data(), count_};
    }
    std::span<const Unit> main_units() const { return units().first(main_count_); }
    std::span<const Unit> local_units() const { return units().subspan(main_count_); }

    std::string text_;
    std::array<Unit, kInline> few_{};
    std::vector<Unit> many_;  ///< all units, once there are more than kInline
    std::uint32_t count_ = 0;
    std::uint32_t main_count_ = 0;
};

}  // namespace gpkg

template <>
struct std::hash<gpkg::Version> {
    std::size_t operator()(const gpkg::Version& version) const noexcept { return version.hash(); }
};
