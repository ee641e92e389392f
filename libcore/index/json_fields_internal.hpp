#pragma once

// Typed reading of the values of a repodata.json, with the leniencies of reading_internal.hpp. What
// is wrong with them is thrown as Malformed. Null stands for an absent value.

#include "libcore/index/index_record.hpp"
#include "libcore/index/reading_internal.hpp"

#include <cstdint>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::repodata {

namespace json = simdjson::dom;

[[noreturn]] void wrong_type(std::string_view key, std::string_view wanted, json::element value);

inline bool is_null(json::element value) { return value.type() == json::element_type::NULL_VALUE; }

/// Calls visit(key, value) for the members of a map; `what` names the map.
template <typename Visit>
void for_each_member(json::element map, std::string_view what, const Visit& visit) {
    if (is_null(map)) return;
    if (map.type() != json::element_type::OBJECT) wrong_type(what, "a map", map);
    const json::object members = map.get_object().value();
    for (const auto member : members) visit(member.key, member.value);
}

std::string_view text_of(std::string_view key, json::element value);
std::uint64_t number_of(std::string_view key, json::element value);
/// Milliseconds since 1970; old records hold seconds.
std::int64_t moment_of(std::string_view key, json::element value);
void append_texts(std::string_view key, json::element value, std::vector<std::string_view>& to);
/// One text with commas or spaces between (CEP 34), or a list.
void append_features(std::string_view key, json::element value, std::vector<std::string_view>& to);
Noarch noarch_of(std::string_view key, json::element value);
/// `size` raw bytes, or empty; they are put into `raw` and borrowed from it.
std::string_view digest_of(std::string_view key,
                           json::element value,
                           std::size_t size,
                           std::string& raw);

}  // namespace gpkg::repodata
