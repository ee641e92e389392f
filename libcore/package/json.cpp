#include "libcore/base/number.hpp"
#include "libcore/package/json_internal.hpp"

#include <fmt/format.h>

namespace gpkg {

std::string_view json_kind(simdjson::dom::element value) {
    using simdjson::dom::element_type;
    switch (value.type()) {
    case element_type::ARRAY: return "a list";
    case element_type::OBJECT: return "an object";
    case element_type::STRING: return "text";
    case element_type::BOOL: return "true or false";
    case element_type::NULL_VALUE: return "null";
    default: return "a number";
    }
}

Result<simdjson::dom::element> parse_json(simdjson::dom::parser& parser,
                                          std::string_view text,
                                          std::string_view what) {
    simdjson::dom::element root;
    const auto code = parser.parse(text.data(), text.size()).get(root);
    if (code != simdjson::SUCCESS)
        return fail(ErrorKind::Parse,
                    fmt::format("{}: not valid JSON: {}", what, simdjson::error_message(code)));
    return root;
}

Result<JsonObject> parse_json_object(simdjson::dom::parser& parser,
                                     std::string_view text,
                                     std::string_view what) {
    GPKG_TRY(const auto root, parse_json(parser, text, what));
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS)
        return fail(ErrorKind::Parse,
                    fmt::format("{}: must be an object, found {}", what, json_kind(root)));
    return JsonObject(object, what, {});
}

std::string JsonObject::name_of(std::string_view key) const {
    return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
}

tl::unexpected<Error> JsonObject::wrong(std::string_view key,
                                        std::string_view wanted,
                                        simdjson::dom::element found) const {
    return fail(
        ErrorKind::Parse,
        fmt::format(
            "{}: '{}' must be {}, found {}", what_, name_of(key), wanted, json_kind(found)));
}

std::optional<simdjson::dom::element> JsonObject::find(std::string_view key) const {
    simdjson::dom::element value;
    if (object_.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
    return value;
}

Result<std::string> JsonObject::text(std::string_view key) const {
    const auto value = find(key);
    if (!value) return std::string();
    std::string_view text;
    if (value->get(text) != simdjson::SUCCESS) return wrong(key, "text", *value);
    return std::string(text);
}

Result<bool> JsonObject::boolean(std::string_view key) const {
    const auto value = find(key);
    if (!value) return false;
    bool flag = false;
    if (value->get(flag) != simdjson::SUCCESS) return wrong(key, "true or false", *value);
    return flag;
}

Result<std::uint64_t> JsonObject::count(std::string_view key) const {
    const auto value = find(key);
    if (!value) return std::uint64_t{0};
    std::uint64_t number = 0;
    if (value->get(number) == simdjson::SUCCESS) return number;

    double real = 0;
    constexpr double kExact = 9007199254740992.0;  // beyond 2^53 a double is no longer a count
    if (value->get(real) == simdjson::SUCCESS && real >= 0 && real <= kExact &&
        real == static_cast<double>(static_cast<std::uint64_t>(real)))
        return static_cast<std::uint64_t>(real);

    std::string_view text;
    if (value->get(text) == simdjson::SUCCESS) {
        if (const auto written = whole_number<std::uint64_t>(text)) return *written;
    }
    return wrong(key, "a whole number of at least 0", *value);
}

Result<std::vector<std::string>> JsonObject::texts(std::string_view key) const {
    const auto value = find(key);
    if (!value) return std::vector<std::string>();
    return texts_of(*value, key);
}

Result<std::vector<std::string>> JsonObject::texts_of(simdjson::dom::element value,
                                                      std::string_view key) const {
    std::vector<std::string> result;
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
        result.emplace_back(text);
        return result;
    }
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS) return wrong(key, "a list of strings", value);
    for (const simdjson::dom::element item : list) {
        if (item.get(text) != simdjson::SUCCESS)
            return wrong(fmt::format("{}[{}]", key, result.size()), "text", item);
        result.emplace_back(text);
    }
    return result;
}

}  // namespace gpkg
