#include "libcore/index/msgpack_fields_internal.hpp"

#include <fmt/format.h>
#include <iterator>

namespace gpkg::repodata {
namespace {

using Kind = MsgpackValue::Kind;

}  // namespace

void wrong_type(std::string_view key, std::string_view wanted, const MsgpackValue& value) {
    refuse(
        fmt::format("'{}' must be {}, not {}", key, wanted, MsgpackValue::name_of(value.kind())));
}

std::string_view text_of(std::string_view key, const MsgpackValue& value) {
    if (is_null(value)) return {};
    if (value.kind() != Kind::Text) wrong_type(key, "a string", value);
    if (value.text().size() > kLongestText) refuse(fmt::format("'{}' is longer than 1 MiB", key));
    return value.text();
}

std::uint64_t number_of(std::string_view key, const MsgpackValue& value) {
    if (is_null(value)) return 0;
    if (value.kind() == Kind::Unsigned) return value.number();
    if (value.kind() != Kind::Negative && value.kind() != Kind::Float)
        wrong_type(key, "a whole number", value);
    refuse(fmt::format("'{}' must be a whole number of at least 0", key));
}

std::int64_t moment_of(std::string_view key, const MsgpackValue& value) {
    double found = 0;
    switch (value.kind()) {
    case Kind::Null: return 0;
    case Kind::Unsigned: found = static_cast<double>(value.number()); break;
    case Kind::Negative:
        found = static_cast<double>(static_cast<std::int64_t>(value.number()));
        break;
    case Kind::Float: found = value.real(); break;
    default: wrong_type(key, "a number", value);
    }
    return moment_in(key, found);
}

void append_texts(std::string_view key,
                  const MsgpackValue& value,
                  std::vector<std::string_view>& to) {
    if (is_null(value)) return;
    if (value.kind() != Kind::Array) wrong_type(key, "a list", value);
    to.reserve(to.size() + static_cast<std::size_t>(std::distance(value.begin(), value.end())));
    for (const auto& item : value) to.push_back(text_of(key, item));
}

void append_features(std::string_view key,
                     const MsgpackValue& value,
                     std::vector<std::string_view>& to) {
    if (value.kind() == Kind::Array) return append_texts(key, value, to);
    split_features(text_of(key, value), to);
}

Noarch noarch_of(std::string_view key, const MsgpackValue& value) {
    if (value.kind() == Kind::Bool) return value.number() != 0 ? Noarch::Generic : Noarch::No;
    return noarch_named(text_of(key, value));
}

std::string_view digest_of(std::string_view key,
                           const MsgpackValue& value,
                           std::size_t size,
                           std::string& raw) {
    if (is_null(value)) return {};
    if (value.kind() == Kind::Bytes) {
        if (value.text().size() != size)
            refuse(fmt::format("'{}' must have {} bytes, not {}", key, size, value.text().size()));
        return value.text();
    }
    return digest_in(key, text_of(key, value), size, raw);
}

}  // namespace gpkg::repodata
