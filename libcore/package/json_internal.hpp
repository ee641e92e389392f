#pragma once

// Typed, forgiving access to the small JSON files of info/. Absent and null mean the default; a
// wrong type is an error that names the file, the key and what was found.

#include "libcore/base/error.hpp"

#include <cstdint>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// One JSON object inside the text called `what`; `place` leads to it ("paths[3]", empty at the
/// top).
class JsonObject {
public:
    JsonObject(simdjson::dom::object object, std::string_view what, std::string place)
        : object_(object), what_(what), place_(std::move(place)) {}

    /// Nothing when absent or null.
    std::optional<simdjson::dom::element> find(std::string_view key) const;
    Result<std::string> text(std::string_view key) const;
    Result<bool> boolean(std::string_view key) const;
    /// A whole number >= 0; written as 3, 3.0 or "3".
    Result<std::uint64_t> count(std::string_view key) const;
    /// A list of strings, or one string for a list of one.
    Result<std::vector<std::string>> texts(std::string_view key) const;
    Result<std::vector<std::string>> texts_of(simdjson::dom::element value,
                                              std::string_view key) const;

    /// "info/link.json: 'noarch.type' must be text, found a number".
    tl::unexpected<Error> wrong(std::string_view key,
                                std::string_view wanted,
                                simdjson::dom::element found) const;
    std::string name_of(std::string_view key) const;
    simdjson::dom::object raw() const { return object_; }
    std::string_view what() const { return what_; }

private:
    simdjson::dom::object object_;
    std::string_view what_;
    std::string place_;
};

std::string_view json_kind(simdjson::dom::element value);

Result<simdjson::dom::element> parse_json(simdjson::dom::parser& parser,
                                          std::string_view text,
                                          std::string_view what);
Result<JsonObject> parse_json_object(simdjson::dom::parser& parser,
                                     std::string_view text,
                                     std::string_view what);

}  // namespace gpkg
