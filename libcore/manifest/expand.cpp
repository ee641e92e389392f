#include "libcore/manifest/expand_internal.hpp"

#include <algorithm>

namespace gpkg::manifest {
namespace {

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The variable that a text after `$` names, and how many characters that takes; none: no variable.
struct Reference {
    std::string_view name;
    std::size_t length = 0;
};

Reference read_reference(std::string_view text) {
    if (text.starts_with('{')) {
        const auto end = text.find('}');
        if (end == std::string_view::npos) return {};
        return {text.substr(1, end - 1), end + 1};
    }
    const auto end = std::find_if_not(text.begin(), text.end(), is_name_char);
    const auto length = static_cast<std::size_t>(end - text.begin());
    return {text.substr(0, length), length};
}

}  // namespace

std::string expand_variables(
    std::string_view text, const std::function<std::optional<std::string>(std::string_view)>& env) {
    if (!env) return std::string(text);
    std::string expanded;
    while (!text.empty()) {
        const auto dollar = std::min(text.find('$'), text.size());
        expanded += text.substr(0, dollar);
        text.remove_prefix(dollar);
        if (text.empty()) break;
        const auto reference = read_reference(text.substr(1));
        const auto value = reference.name.empty() ? std::nullopt : env(reference.name);
        expanded += value ? *value : text.substr(0, reference.length + 1);
        text.remove_prefix(reference.length + 1);
    }
    return expanded;
}

}  // namespace gpkg::manifest
