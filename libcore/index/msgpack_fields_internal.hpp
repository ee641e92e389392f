#pragma once

// Typed reading of the values of a shard, with the leniencies of reading_internal.hpp. What is
// wrong with them is thrown as Malformed. Null stands for an absent value.

#include "libcore/index/index_record.hpp"
#include "libcore/index/msgpack_internal.hpp"
#include "libcore/index/reading_internal.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::repodata {

[[noreturn]] void wrong_type(std::string_view key,
                             std::string_view wanted,
                             const MsgpackValue& value);

inline bool is_null(const MsgpackValue& value) { return value.kind() == MsgpackValue::Kind::Null; }

/// Calls visit(key, value) for the members of a map; `what` names the map.
template <typename Visit>
void for_each_member(const MsgpackValue& map, std::string_view what, const Visit& visit) {
    if (is_null(map)) return;
    if (map.kind() != MsgpackValue::Kind::Map) wrong_type(what, "a map", map);
    for (auto at = map.begin(); at != map.end();) {
        const auto& key = *at++;
        if (key.kind() != MsgpackValue::Kind::Text) wrong_type(what, "a map with string keys", key);
        visit(key.text(), *at++);
    }
}

std::string_view text_of(std::string_view key, const MsgpackValue& value);
std::uint64_t number_of(std::string_view key, const MsgpackValue& value);
/// Milliseconds since 1970; old records hold seconds.
std::int64_t moment_of(std::string_view key, const MsgpackValue& value);
void append_texts(std::string_view key,
                  const MsgpackValue& value,
                  std::vector<std::string_view>& to);
/// One text with commas or spaces between, or a list.
void append_features(std::string_view key,
                     const MsgpackValue& value,
                     std::vector<std::string_view>& to);
Noarch noarch_of(std::string_view key, const MsgpackValue& value);
/// `size` raw bytes, or empty. What was written in hex is put into `raw` and borrowed from it.
std::string_view digest_of(std::string_view key,
                           const MsgpackValue& value,
                           std::size_t size,
                           std::string& raw);

}  // namespace gpkg::repodata
