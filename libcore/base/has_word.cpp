#include "libcore/base/has_word.hpp"

#include <cctype>

namespace gpkg {

bool has_word(std::string_view text, std::string_view word, std::string_view joints) {
    const auto is_part = [&](std::size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                    joints.find(text[at]) != std::string_view::npos);
    };
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size())) return true;
    }
    return false;
}

}  // namespace gpkg
