#include "libcore/recipe/value.hpp"

namespace gpkg {

bool Value::truthy() const {
    if (const auto* value = flag()) return *value;
    if (const auto* value = number()) return *value != 0;
    if (const auto* value = text()) return !value->empty();
    if (const auto* value = list()) return !value->empty();
    return false;
}

std::string Value::to_text() const {
    if (const auto* value = flag()) return *value ? "true" : "false";
    if (const auto* value = number()) return std::to_string(*value);
    if (const auto* value = text()) return *value;
    if (const auto* value = list()) {
        std::string out = "[";
        for (const auto& item : *value) {
            if (out.size() > 1) out += ", ";
            out += item.to_text();
        }
        return out + "]";
    }
    return {};
}

std::string Value::kind_name() const {
    if (flag() != nullptr) return "a boolean";
    if (number() != nullptr) return "a number";
    if (text() != nullptr) return "a string";
    if (list() != nullptr) return "a list";
    return "nothing";
}

}  // namespace gpkg
