#pragma once

// Percent-encoding, as the paths of URLs have it (RFC 3986).

#include "libcore/base/error.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// Bytes that may not stand in a URL's path become %XX; '/' stays.
std::string percent_encode(std::string_view path);
/// The reverse. A '%' without two hex digits, or %00, is an error.
Result<std::string> percent_decode(std::string_view text);

/// A URL without its query and fragment, which artifact stores and signed URLs have behind the file
/// name. Paths and file:// URLs stay as they are: '?' and '#' may be in their names.
std::string_view without_query(std::string_view location);

/// For messages: the path of a file:///path URL, else the text as it is.
std::string path_or_url(std::string_view url);

}  // namespace gpkg
