#include "libcore/base/digest.hpp"
#include "libcore/index/fields_internal.hpp"

#include <fmt/format.h>

namespace gpkg::repodata {
std::string_view type_name(json::element_type type) {
    switch (type) {
    case json::element_type::ARRAY: return "a list";
    case json::element_type::OBJECT: return "a map";
    case json::element_type::INT64:
    case json::element_type::UINT64:
    case json::element_type::DOUBLE: return "a number";
    case json::element_type::STRING: return "a text";
    case json::element_type::BOOL: return "true or false";
    case json::element_type::NULL_VALUE: return "null";
    }
    return "something else";
}

void Fields::wrong(std::string_view key, std::string_view wanted, json::element value) const {
    refuse(
        fmt::format("{}: '{}' should be {}, not {}", where, key, wanted, type_name(value.type())));
}

std::string_view Fields::text(std::string_view key, json::element value) const {
    const auto type = value.type();
    if (type == json::element_type::NULL_VALUE) return {};
    if (type != json::element_type::STRING) wrong(key, "a text", value);
    const std::string_view found = value.get_string().value();
    if (found.size() > kLongestText)
        refuse(fmt::format("{}: '{}' is longer than 1 MiB", where, key));
    return found;
}

std::uint64_t Fields::number(std::string_view key, json::element value) const {
    if (value.type() == json::element_type::NULL_VALUE) return 0;
    std::uint64_t found = 0;
    if (value.get_uint64().get(found) == simdjson::SUCCESS) return found;
    double odd = 0;
    if (value.get_double().get(odd) != simdjson::SUCCESS) wrong(key, "a whole number", value);
    refuse(fmt::format("{}: '{}' should be a whole number from 0 on, not {}", where, key, odd));
}

std::int64_t Fields::moment(std::string_view key, json::element value) const {
    if (value.type() == json::element_type::NULL_VALUE) return 0;
    double found = 0;
    if (value.get_double().get(found) != simdjson::SUCCESS) wrong(key, "a number", value);
    const auto moment = moment_in(found);
    if (!moment) refuse(fmt::format("{}: '{}' is no time", where, key));
    return *moment;
}

void Fields::list(std::string_view key,
                  json::element value,
                  std::vector<std::string_view>& into) const {
    const auto type = value.type();
    if (type == json::element_type::NULL_VALUE) return;
    if (type != json::element_type::ARRAY) wrong(key, "a list", value);
    for (json::element item : as_list(value)) into.push_back(text(key, item));
}

std::vector<std::string_view> Fields::list(std::string_view key, json::element value) const {
    std::vector<std::string_view> found;
    list(key, value, found);
    return found;
}

void Fields::features(json::element value, std::vector<std::string_view>& into) const {
    if (value.type() == json::element_type::ARRAY) return list("track_features", value, into);
    split_features(text("track_features", value), into);
}

Noarch Fields::noarch(json::element value) const {
    if (value.type() == json::element_type::BOOL)
        return value.get_bool().value() ? Noarch::Generic : Noarch::No;
    return noarch_named(text("noarch", value));
}

std::string_view Fields::digest(std::string_view key,
                                json::element value,
                                std::span<char> memory) const {
    const auto hex = text(key, value);
    if (hex.empty()) return {};
    if (!from_hex(hex, memory))
        refuse(fmt::format("{}: '{}' should be {} hex digits", where, key, 2 * memory.size()));
    return {memory.data(), memory.size()};
}

}  // namespace gpkg::repodata
