#pragma once

// Strict access to the JSON of what is signed: what is missing or of another type is Malformed.

#include "libcore/trust/fault.hpp"

#include <cstdint>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::trust_fields {

/// Seconds since 1970 <-> "2026-11-23T16:00:00Z".
std::string time_text(std::int64_t seconds);

class Object {
public:
    explicit Object(std::string what) : what_(std::move(what)) {}
    Result<void> open(simdjson::dom::parser& parser, const simdjson::padded_string& text);
    Result<void> open(simdjson::dom::element value);
    /// The text's "type" has to be this, its "format" 1.
    Result<void> check_type(std::string_view type) const;

    Result<std::string> text(std::string_view key) const;
    Result<std::uint64_t> number(std::string_view key) const;
    Result<std::int64_t> time(std::string_view key) const;
    Result<simdjson::dom::array> list(std::string_view key) const;
    Result<Object> object(std::string_view key) const;
    bool has(std::string_view key) const;
    simdjson::dom::object members() const { return object_; }
    const std::string& what() const { return what_; }
    tl::unexpected<Error> malformed(std::string_view why) const;

private:
    std::string what_;
    simdjson::dom::object object_;
};

}  // namespace gpkg::trust_fields
