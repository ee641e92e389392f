#include "libcore/recipe/dependency.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace gpkg {
namespace {

std::string positional_version(const VersionSpec& spec) {
    if (const auto* fuzzy = spec.fuzzy()) return fmt::format("{}.*", fuzzy->to_string());
    return spec.to_string();
}

bool is_pin_expression(std::string_view bound) {
    return bound.find_first_not_of("x.") == std::string_view::npos;
}

// "5!1.2.3+3.4" -> "5!", {1, 2, 3}, "+3.4"
struct VersionParts {
    std::string epoch;
    std::vector<std::string> segments;
    std::string local;
};

VersionParts parts_of(std::string_view version) {
    VersionParts parts;
    if (const auto mark = version.find('!'); mark != std::string_view::npos) {
        parts.epoch = version.substr(0, mark + 1);
        version.remove_prefix(mark + 1);
    }
    if (const auto plus = version.find('+'); plus != std::string_view::npos) {
        parts.local = version.substr(plus);
        version = version.substr(0, plus);
    }
    for (const auto segment : split(version, '.')) parts.segments.emplace_back(segment);
    return parts;
}

std::size_t segment_count(std::string_view expression) { return split(expression, '.').size(); }

std::string join_segments(const std::vector<std::string>& segments) {
    std::string out;
    for (const auto& segment : segments)
        out += fmt::format("{}{}", out.empty() ? "" : ".", segment);
    return out;
}

std::string lower_bound(std::string_view version, std::string_view expression) {
    auto parts = parts_of(version);
    parts.segments.resize(std::min(parts.segments.size(), segment_count(expression)));
    return fmt::format("{}{}{}", parts.epoch, join_segments(parts.segments), parts.local);
}

// The version cut to the expression's length with its last segment counted up by one: 1.21.3 by
// x.x is 1.22.0a0; a segment that ends in a letter, 9e, becomes 10a.
Result<std::string> upper_bound(std::string_view version, std::string_view expression) {
    auto parts = parts_of(version);
    parts.segments.resize(segment_count(expression), "0");
    auto& last = parts.segments.back();
    std::uint64_t number = 0;
    const auto [stop, code] = std::from_chars(last.data(), last.data() + last.size(), number);
    if (code != std::errc())
        return fail(ErrorKind::Parse,
                    fmt::format("cannot increment '{}' in version {}", last, version));
    const bool letter = stop != last.data() + last.size();
    last = fmt::format("{}{}", number + 1, letter ? "a" : "");
    return fmt::format("{}{}{}", parts.epoch, join_segments(parts.segments), letter ? "" : ".0a0");
}

}  // namespace

Result<std::string> dependency_text(std::string_view spec) {
    GPKG_TRY(const auto parsed, MatchSpec::parse(spec));
    const auto refuse = [&](std::string_view why) {
        return fail(ErrorKind::Unsupported, fmt::format("invalid dependency '{}': {}", spec, why));
    };
    if (parsed.name_matcher || parsed.name == "*") return refuse("the name cannot be a pattern");
    MatchSpec plain;
    plain.name = parsed.name;
    plain.version = parsed.version;
    plain.build = parsed.build;
    if (!(plain == parsed)) return refuse("only name, version and build are allowed");

    auto text = parsed.name;
    const bool any_version = !parsed.version || parsed.version->is_any();
    if (!any_version || parsed.build)
        text += fmt::format(" {}", any_version ? "*" : positional_version(*parsed.version));
    if (parsed.build) text += fmt::format(" {}", parsed.build->text());
    return text;
}

std::string_view dependency_name(std::string_view spec) {
    return spec.substr(0, spec.find_first_of(" =<>!~[(;@"));
}

Result<std::string> pin_bounds(std::string_view version,
                               std::string_view lower,
                               std::string_view upper) {
    std::string out;
    if (!lower.empty())
        out = fmt::format(
            ">={}", is_pin_expression(lower) ? lower_bound(version, lower) : std::string(lower));
    if (!upper.empty()) {
        auto bound = std::string(upper);
        if (is_pin_expression(upper)) {
            GPKG_TRY(bound, upper_bound(version, upper));
        }
        out += fmt::format("{}<{}", out.empty() ? "" : ",", bound);
    }
    return out.empty() ? "*" : out;
}

}  // namespace gpkg
