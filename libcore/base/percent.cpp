#include "libcore/base/percent.hpp"

#include "libcore/base/digest.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>
#include <span>

namespace gpkg {

std::string percent_encode(std::string_view path) {
    std::string encoded;
    for (const char c : path) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
            std::string_view("-._~/!+,=@:").find(c) != std::string::npos) {
            encoded += c;
        } else {
            const auto byte = static_cast<std::uint8_t>(c);
            std::string hex = to_hex(std::span(&byte, 1));
            std::transform(hex.begin(), hex.end(), hex.begin(), [](unsigned char digit) {
                return static_cast<char>(std::toupper(digit));
            });
            encoded += '%' + hex;
        }
    }
    return encoded;
}

Result<std::string> percent_decode(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        if (!is_hex(text.substr(i + 1, 2), 2) || text.substr(i + 1, 2) == "00")
            return fail(ErrorKind::Parse,
                        fmt::format("'{}' is not a percent-encoded byte", text.substr(i, 3)),
                        "write a percent sign as %25");
        decoded += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
    }
    return decoded;
}

std::string_view without_query(std::string_view location) {
    const bool is_remote =
        location.find("://") != std::string_view::npos && !location.starts_with("file:");
    return is_remote ? location.substr(0, location.find_first_of("?#")) : location;
}

std::string path_or_url(std::string_view url) {
    constexpr std::string_view kScheme = "file://";
    if (!url.starts_with("file:///")) return std::string(url);
    auto path = percent_decode(url.substr(kScheme.size()));
    return path ? *std::move(path) : std::string(url);
}

}  // namespace gpkg
