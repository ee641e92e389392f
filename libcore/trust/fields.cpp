#include "libcore/trust/fields_internal.hpp"

#include <array>
#include <ctime>
#include <fmt/format.h>

namespace gpkg::trust_fields {
namespace {

constexpr const char* kTime = "%Y-%m-%dT%H:%M:%SZ";

}  // namespace

std::string time_text(std::int64_t seconds) {
    const auto value = static_cast<std::time_t>(seconds);
    std::tm parts{};
    std::array<char, 64> text{};
    if (::gmtime_r(&value, &parts) == nullptr) return fmt::format("{} s", seconds);
    return {text.data(), std::strftime(text.data(), text.size(), kTime, &parts)};
}

tl::unexpected<Error> Object::malformed(std::string_view why) const {
    return distrust(TrustFault::Malformed, fmt::format("{}: {}", what_, why));
}

Result<void> Object::open(simdjson::dom::parser& parser, const simdjson::padded_string& text) {
    simdjson::dom::element value;
    if (const auto code = parser.parse(text).get(value); code != simdjson::SUCCESS)
        return malformed(fmt::format("invalid JSON: {}", simdjson::error_message(code)));
    return open(value);
}

Result<void> Object::open(simdjson::dom::element value) {
    if (value.get(object_) == simdjson::SUCCESS) return {};
    return malformed("not a JSON object");
}

Result<void> Object::check_type(std::string_view type) const {
    GPKG_TRY(const auto found, text("type"));
    GPKG_TRY(const auto format, number("format"));
    if (found != type) return malformed(fmt::format("not a {}", type));
    if (format == 1) return {};
    return malformed(fmt::format("unsupported format {} (this gpkg supports 1)", format));
}

bool Object::has(std::string_view key) const {
    simdjson::dom::element value;
    return object_[key].get(value) == simdjson::SUCCESS;
}

Result<std::string> Object::text(std::string_view key) const {
    std::string_view value;
    if (object_[key].get(value) == simdjson::SUCCESS) return std::string(value);
    return malformed(fmt::format("has no string '{}'", key));
}

Result<std::uint64_t> Object::number(std::string_view key) const {
    std::uint64_t value = 0;
    if (object_[key].get(value) == simdjson::SUCCESS) return value;
    return malformed(fmt::format("has no number '{}'", key));
}

Result<std::int64_t> Object::time(std::string_view key) const {
    GPKG_TRY(const auto written, text(key));
    std::tm parts{};
    const auto* end = ::strptime(written.c_str(), kTime, &parts);
    if (end == nullptr || *end != '\0')
        return malformed(fmt::format("'{}' is not a time such as 2026-11-23T16:00:00Z", key));
    return std::int64_t{::timegm(&parts)};
}

Result<simdjson::dom::array> Object::list(std::string_view key) const {
    simdjson::dom::array value;
    if (object_[key].get(value) == simdjson::SUCCESS) return value;
    return malformed(fmt::format("has no list '{}'", key));
}

Result<Object> Object::object(std::string_view key) const {
    Object inner(what_);
    if (object_[key].get(inner.object_) == simdjson::SUCCESS) return inner;
    return malformed(fmt::format("has no object '{}'", key));
}

}  // namespace gpkg::trust_fields
