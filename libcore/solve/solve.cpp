#include "libcore/solve/solve.hpp"

namespace gpkg {

std::string Explanation::to_string() const {
    std::string text;
    for (const auto& line : lines) {
        if (!text.empty()) text += '\n';
        if (line.depth > 0)
            text += std::string(static_cast<std::size_t>(line.depth - 1) * 3, ' ') + "└─ ";
        text += line.text;
    }
    for (const auto& hint : hints) text += "\nhint: " + hint;
    return text;
}

}  // namespace gpkg
