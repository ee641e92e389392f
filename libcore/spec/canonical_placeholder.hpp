#pragma once

// The text that stands for the prefix in what gpkg builds (CEP 34, `prefix_placeholder`).

#include <cstddef>
#include <string>
#include <string_view>

namespace gpkg {

/// The length of the prefix that packages are built in, and of the text that stands for it in their
/// files: no real prefix may be longer.
inline constexpr std::size_t kPlaceholderLength = 255;

/// The text that stands for the prefix in every package, whatever folder it was built in: the same
/// files make the same package on every machine.
std::string_view canonical_placeholder();

/// What paths are filled up with to that length.
inline constexpr std::string_view kPlaceholderFill = "_placehold";
/// `path`, shorter than kPlaceholderLength, filled up to it.
std::string filled_to_placeholder(std::string path);

}  // namespace gpkg
