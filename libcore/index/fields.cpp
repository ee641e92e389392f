#include "libcore/base/digest.hpp"
#include "libcore/index/fields_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <utility>

namespace gpkg::repodata {
namespace {

constexpr std::size_t kLongestText = 1U << 20U;
/// Later than year 9999 in seconds, so it must be milliseconds (what conda's tools assume).
constexpr std::int64_t kLastSecond = 253402300799;

}  // namespace

void refuse(std::string reason) { throw Malformed{std::move(reason)}; }

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
    double found = 0;  // some old records hold fractions
    if (value.get_double().get(found) != simdjson::SUCCESS) wrong(key, "a number", value);
    // A clock set before 1970 spoils the order of its own builds only.
    if (!(found > -9e15 && found < 9e15)) refuse(fmt::format("{}: '{}' is no time", where, key));
    const auto whole = static_cast<std::int64_t>(found);
    return whole > kLastSecond ? whole : whole * 1000;
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
    std::string_view rest = text("track_features", value);
    while (!rest.empty()) {
        const auto end = std::min(rest.find_first_of(", "), rest.size());
        if (end > 0) into.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

Noarch Fields::noarch(json::element value) const {
    if (value.type() == json::element_type::BOOL)
        return value.get_bool().value() ? Noarch::Generic : Noarch::No;
    const auto kind = text("noarch", value);
    if (kind.empty()) return Noarch::No;
    return kind == "python" ? Noarch::Python : Noarch::Generic;
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

Key key_of(std::string_view key) {
    const auto one_of = [&](std::initializer_list<std::pair<std::string_view, Key>> names) {
        for (const auto& [name, value] : names) {
            if (name == key) return value;
        }
        return Key::Other;
    };
    switch (key.empty() ? '\0' : key.front()) {
    case 'b': return one_of({{"build", Key::Build}, {"build_number", Key::BuildNumber}});
    case 'c': return one_of({{"constrains", Key::Constrains}});
    case 'd': return one_of({{"depends", Key::Depends}});
    case 'e': return one_of({{"extra_depends", Key::ExtraDepends}});
    case 'f': return one_of({{"flags", Key::Flags}});
    case 'i': return one_of({{"indexed_timestamp", Key::IndexedTimestamp}});
    case 'l': return one_of({{"license", Key::License}, {"license_family", Key::LicenseFamily}});
    case 'm': return one_of({{"md5", Key::Md5}});
    case 'n': return one_of({{"name", Key::Name}, {"noarch", Key::Noarch}});
    case 'p': return one_of({{"python_site_packages_path", Key::PythonSitePackagesPath}});
    case 's': return one_of({{"sha256", Key::Sha256}, {"size", Key::Size}});
    case 't':
        return one_of({{"timestamp", Key::Timestamp}, {"track_features", Key::TrackFeatures}});
    case 'v': return one_of({{"version", Key::Version}});
    default: return Key::Other;
    }
}

}  // namespace gpkg::repodata
