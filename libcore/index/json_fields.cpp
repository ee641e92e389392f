#include "libcore/index/json_fields_internal.hpp"

#include <fmt/format.h>

namespace gpkg::repodata {
namespace {

using Type = json::element_type;

std::string_view name_of(Type type) {
    switch (type) {
    case Type::ARRAY: return "a list";
    case Type::OBJECT: return "a map";
    case Type::INT64:
    case Type::UINT64:
    case Type::DOUBLE: return "a number";
    case Type::STRING: return "a string";
    case Type::BOOL: return "true or false";
    case Type::NULL_VALUE: return "null";
    }
    return "another type";
}

}  // namespace

void wrong_type(std::string_view key, std::string_view wanted, json::element value) {
    refuse(fmt::format("'{}' must be {}, not {}", key, wanted, name_of(value.type())));
}

std::string_view text_of(std::string_view key, json::element value) {
    if (is_null(value)) return {};
    if (value.type() != Type::STRING) wrong_type(key, "a string", value);
    const std::string_view found = value.get_string().value();
    if (found.size() > kLongestText) refuse(fmt::format("'{}' is longer than 1 MiB", key));
    return found;
}

std::uint64_t number_of(std::string_view key, json::element value) {
    if (is_null(value)) return 0;
    std::uint64_t found = 0;
    if (value.get_uint64().get(found) == simdjson::SUCCESS) return found;
    double odd = 0;
    if (value.get_double().get(odd) != simdjson::SUCCESS) wrong_type(key, "a whole number", value);
    refuse(fmt::format("'{}' must be a whole number of at least 0, not {}", key, odd));
}

std::int64_t moment_of(std::string_view key, json::element value) {
    if (is_null(value)) return 0;
    double found = 0;
    if (value.get_double().get(found) != simdjson::SUCCESS) wrong_type(key, "a number", value);
    return moment_in(key, found);
}

void append_texts(std::string_view key, json::element value, std::vector<std::string_view>& to) {
    if (is_null(value)) return;
    if (value.type() != Type::ARRAY) wrong_type(key, "a list", value);
    const json::array items = value.get_array().value();
    for (const auto item : items) to.push_back(text_of(key, item));
}

void append_features(std::string_view key, json::element value, std::vector<std::string_view>& to) {
    if (value.type() == Type::ARRAY) return append_texts(key, value, to);
    split_features(text_of(key, value), to);
}

Noarch noarch_of(std::string_view key, json::element value) {
    if (value.type() == Type::BOOL) return value.get_bool().value() ? Noarch::Generic : Noarch::No;
    return noarch_named(text_of(key, value));
}

std::string_view digest_of(std::string_view key,
                           json::element value,
                           std::size_t size,
                           std::string& raw) {
    return digest_in(key, text_of(key, value), size, raw);
}

}  // namespace gpkg::repodata
