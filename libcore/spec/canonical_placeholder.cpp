#include "libcore/spec/canonical_placeholder.hpp"

namespace gpkg {

std::string_view canonical_placeholder() {
    static const std::string text = filled_to_placeholder("/gpkg");
    return text;
}

std::string filled_to_placeholder(std::string path) {
    while (path.size() < kPlaceholderLength) path += kPlaceholderFill;
    path.resize(kPlaceholderLength);
    return path;
}

}  // namespace gpkg
