#pragma once

// Lenient access to JSON objects other tools wrote: a key that is missing, null or of another type
// is absent.

#include "libcore/base/error.hpp"
#include "libcore/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::env_json {

/// The top object of `text`; the parser must outlive it.
inline Result<simdjson::dom::object> parse_object(simdjson::dom::parser& parser,
                                                  std::string_view text,
                                                  std::string_view what) {
    simdjson::dom::element root;
    if (const auto code = parser.parse(text.data(), text.size()).get(root);
        code != simdjson::SUCCESS)
        return fail(ErrorKind::Parse,
                    fmt::format("{}: not valid JSON: {}", what, simdjson::error_message(code)));
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS)
        return fail(ErrorKind::Parse, fmt::format("{}: expected a JSON object", what));
    return object;
}

inline std::string text_of(simdjson::dom::element value) {
    std::string_view text;
    return value.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

/// The value of a variable. conda writes those of an environment.yml as YAML has them, and sets
/// them as Python prints them: 8, True.
inline std::optional<std::string> variable_text(simdjson::dom::element value) {
    switch (value.type()) {
    case simdjson::dom::element_type::STRING: return text_of(value);
    case simdjson::dom::element_type::INT64:
    case simdjson::dom::element_type::UINT64:
    case simdjson::dom::element_type::DOUBLE: return simdjson::minify(value);
    case simdjson::dom::element_type::BOOL:
        return value.get_bool().value_unsafe() ? "True" : "False";
    default: return std::nullopt;
    }
}

/// A number that is whole and not negative, whatever its JSON type; else nothing.
inline std::optional<std::uint64_t> number_of(simdjson::dom::element value) {
    std::uint64_t whole = 0;
    if (value.get(whole) == simdjson::SUCCESS) return whole;
    double real = 0;
    if (value.get(real) == simdjson::SUCCESS && real >= 0 && real < 9e18)
        return static_cast<std::uint64_t>(real);
    return std::nullopt;
}

inline bool truth_of(simdjson::dom::element value) {
    bool truth = false;
    return value.get(truth) == simdjson::SUCCESS && truth;
}

/// The texts of a list; other elements are left out.
inline std::vector<std::string> texts_of(simdjson::dom::element value) {
    std::vector<std::string> out;
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS) return out;
    for (const auto item : list) {
        std::string_view text;
        if (item.get(text) == simdjson::SUCCESS) out.emplace_back(text);
    }
    return out;
}

/// Collects members as the text of one JSON object.
class Members {
public:
    void add(std::string_view key, simdjson::dom::element value) {
        text_ += text_.empty() ? "{" : ",";
        text_ += json_text(nlohmann::json(key));
        text_ += ':';
        text_ += simdjson::minify(value);
    }
    std::string text() && { return text_.empty() ? std::string() : std::move(text_) + "}"; }

private:
    std::string text_;
};

/// Adds the members of `unknown`, a text that Members made, which `object` does not have.
inline void add_unknown(nlohmann::ordered_json& object, const std::string& unknown) {
    if (unknown.empty()) return;
    const auto members = nlohmann::ordered_json::parse(unknown, nullptr, false);
    if (!members.is_object()) return;
    for (const auto& [key, value] : members.items()) {
        if (!object.contains(key)) object[key] = value;
    }
}

}  // namespace gpkg::env_json
