#pragma once

#include <string_view>

namespace gpkg {

/// Whether a text has the word, with no letter or digit, and none of the `joints`, beside it.
bool has_word(std::string_view text, std::string_view word, std::string_view joints);

}  // namespace gpkg
