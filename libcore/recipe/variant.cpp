#include "libcore/recipe/variant.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

/// As conda-build writes what it hashes: ASCII only.
std::string ascii_json(const std::string& text) {
    constexpr bool kAsciiOnly = true;
    return Json(text).dump(-1, ' ', kAsciiOnly, Json::error_handler_t::replace);
}

// "3.11.* *_cpython" -> "311"
std::string first_segments(std::string_view value, std::size_t count) {
    std::string out;
    const auto segments = split(value.substr(0, value.find(' ')), '.');
    for (std::size_t i = 0; i < std::min(count, segments.size()); ++i) {
        for (const char c : segments[i]) {
            if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
        }
    }
    return out;
}

// The languages that a build string names, in this order.
std::string language_tags(const Variant& used) {
    struct Tag {
        std::string_view tag;
        std::string_view key;
        std::size_t segments;
    };
    static constexpr std::array kTags = {
        Tag{"np", "numpy", 2},
        Tag{"py", "python", 2},
        Tag{"pl", "perl", 3},
        Tag{"lua", "lua", 2},
        Tag{"r", "r", 2},
        Tag{"r", "r_base", 2},
    };
    std::string out;
    for (const auto& [tag, key, segments] : kTags) {
        const auto found = used.find(std::string(key));
        if (found == used.end()) continue;
        if (key == "r_base" && used.contains("r")) continue;
        out += fmt::format("{}{}", tag, first_segments(found->second.text, segments));
    }
    return out;
}

}  // namespace

std::string variant_key(std::string_view name) {
    std::string key(name);
    std::replace(key.begin(), key.end(), '-', '_');
    std::replace(key.begin(), key.end(), '.', '_');
    return key;
}

std::string hash_input_text(const Variant& used) {
    std::string out;
    for (const auto& [key, value] : used)
        out += fmt::format("{}{}: {}",
                           out.empty() ? "" : ", ",
                           ascii_json(key),
                           value.is_plain ? value.text : ascii_json(value.text));
    return "{" + out + "}";
}

std::string variant_hash(const Variant& used) {
    return hex_digest(DigestKind::Sha1, hash_input_text(used)).substr(0, 7);
}

std::string default_build_string(const Variant& used, bool noarch_python, std::uint64_t number) {
    const auto tags = noarch_python ? std::string("py") : language_tags(used);
    return fmt::format("{}h{}_{}", tags, variant_hash(used), number);
}

}  // namespace gpkg
