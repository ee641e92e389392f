#include "libcore/spec/version_range.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"

#include <cstdint>
#include <utility>

namespace gpkg {

std::optional<VersionRange> VersionRange::of(const VersionSpec& spec) {
    VersionRange range;
    if (spec.is_any()) return range;
    if (const auto* prefix = spec.fuzzy()) {
        range.below = first_after(*prefix);
        if (!range.below) return std::nullopt;
        range.from = *prefix;
        return range;
    }
    const auto text = spec.to_string();
    for (const auto part : split(text, ',')) {
        const bool is_lower = part.starts_with(">=");
        const bool is_upper = part.starts_with('<') && !part.starts_with("<=");
        if (!is_lower && !is_upper) return std::nullopt;
        // What has alternatives or groups is no version.
        auto version = Version::parse(part.substr(is_lower ? 2 : 1));
        if (!version) return std::nullopt;
        VersionRange end;
        (is_lower ? end.from : end.below) = *std::move(version);
        range.narrow_to(end);
    }
    return range;
}

std::optional<VersionRange> VersionRange::of(const MatchSpec& spec) {
    MatchSpec plain;
    plain.name = spec.name;
    plain.version = spec.version;
    if (!(plain == spec)) return std::nullopt;
    return spec.version ? of(*spec.version) : VersionRange();
}

void VersionRange::narrow_to(const VersionRange& other) {
    if (other.from && (!from || *from < *other.from)) from = other.from;
    if (other.below && (!below || *other.below < *below)) below = other.below;
}

std::string VersionRange::to_string() const {
    std::string text;
    if (from) text = ">=" + from->to_string();
    if (from && below) text += ",";
    if (below) text += "<" + below->to_string();
    return text;
}

std::optional<Version> first_after(const Version& prefix) {
    const auto& text = prefix.to_string();
    const auto digits = text.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
    const auto last = whole_number<std::uint64_t>(std::string_view(text).substr(digits));
    if (!last || *last == UINT64_MAX) return std::nullopt;
    auto next = Version::parse(text.substr(0, digits) + std::to_string(*last + 1));
    return next ? std::optional(*std::move(next)) : std::nullopt;
}

}  // namespace gpkg
