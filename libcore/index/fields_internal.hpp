#pragma once

// Typed reading of a repodata's JSON values. What is wrong with them is thrown as Malformed, to the
// reader of the whole and no further.

#include "libcore/index/index_record.hpp"
#include "libcore/index/reading_internal.hpp"

#include <cstdint>
#include <simdjson.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::repodata {

namespace json = simdjson::dom;

/// "a list", "a text".
std::string_view type_name(json::element_type type);

// By value: a range-for over `.value()` of a temporary result would outlive it.
inline json::object as_map(json::element value) { return value.get_object().value(); }
inline json::array as_list(json::element value) { return value.get_array().value(); }

/// Reads the fields of one record; `where` is its file name. Null stands for an absent value.
struct Fields {
    std::string_view where;

    [[noreturn]] void wrong(std::string_view key,
                            std::string_view wanted,
                            json::element value) const;

    std::string_view text(std::string_view key, json::element value) const;
    std::uint64_t number(std::string_view key, json::element value) const;
    /// Milliseconds since 1970; old records hold seconds.
    std::int64_t moment(std::string_view key, json::element value) const;
    std::vector<std::string_view> list(std::string_view key, json::element value) const;
    void list(std::string_view key, json::element value, std::vector<std::string_view>& into) const;
    /// CEP 34 wants one text with commas or spaces between; lists occur.
    void features(json::element value, std::vector<std::string_view>& into) const;
    Noarch noarch(json::element value) const;
    /// The raw bytes, in `memory`, of a digest in hex; or empty.
    std::string_view digest(std::string_view key,
                            json::element value,
                            std::span<char> memory) const;
};

}  // namespace gpkg::repodata
