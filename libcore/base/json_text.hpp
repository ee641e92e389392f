#pragma once

// The one way a JSON document becomes text.

#include <string>

namespace gpkg {

/// `document`, an nlohmann::json of either order, on one line, or with `indent` spaces a level.
/// Never throws for what is in it: bytes that are no UTF-8 (file names, what programs print) become
/// U+FFFD, for JSON has no other place for them.
template <class Json>
std::string json_text(const Json& document, int indent = -1) {
    return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gpkg
