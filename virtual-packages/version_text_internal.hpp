#pragma once

// Versions as systems print them: dotted numbers with a tail of a distribution's own.

#include <string_view>

namespace gpkg::virtual_packages {

/// The numbers at the front of `text`, at least `least` and at most `most` of them: "6.8.0" of
/// "6.8.0-45-generic". Empty when there are none.
inline std::string_view leading_version(std::string_view text, int most, int least = 2) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t end = 0;
    int numbers = 0;
    for (std::size_t at = 0; numbers < most && at < text.size() && is_digit(text[at]); ++at) {
        while (at < text.size() && is_digit(text[at])) ++at;
        end = at;
        ++numbers;
        if (at == text.size() || text[at] != '.') break;
    }
    return numbers < least ? std::string_view{} : text.substr(0, end);
}

}  // namespace gpkg::virtual_packages
