#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace gpkg {

/// The number that the whole text is, in decimal digits; nothing for anything else, and for one
/// that `Number` has no room for.
template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
    Number number{};
    const auto* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    if (code != std::errc() || stop != end || text.empty()) return std::nullopt;
    return number;
}

}  // namespace gpkg
