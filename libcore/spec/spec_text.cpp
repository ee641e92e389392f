#include "libcore/spec/spec_text.hpp"

#include <fmt/format.h>

namespace gpkg {

std::string written(const MatchSpec& spec) {
    MatchSpec plain;
    plain.name = spec.name;
    plain.name_matcher = spec.name_matcher;
    plain.version = spec.version;
    plain.build = spec.build;
    if (!(plain == spec)) return spec.to_string();
    auto text = spec.name;
    if (spec.version) text += " " + spec.version->to_string();
    if (spec.build) text += (spec.version ? " " : " * ") + spec.build->text();
    return text;
}

std::string written(const std::string& spec) {
    if (spec.find('[') == std::string::npos) return spec;
    const auto parsed = MatchSpec::parse(spec);
    auto text = parsed ? written(*parsed) : spec;
    return text.find('[') == std::string::npos ? text : spec;
}

std::string as_typed(const MatchSpec& spec) {
    if (spec.when) {
        auto rest = spec;
        rest.when.reset();
        MatchSpec condition;
        condition.when = spec.when;
        const auto text = as_typed(rest);
        // "*[when='...']" behind "numpy>=2".
        return text.ends_with(']') ? spec.to_string() : text + condition.to_string().substr(1);
    }
    MatchSpec plain;
    plain.name = spec.name;
    plain.version = spec.version;
    plain.build = spec.build;
    plain.channel = spec.channel;
    const bool is_pattern =
        spec.channel && spec.channel->find_first_of("^$*[]") != std::string::npos;
    if (!(plain == spec) || is_pattern) return spec.to_string();
    auto text = spec.channel ? *spec.channel + "::" + spec.name : spec.name;
    const auto* prefix = spec.version ? spec.version->fuzzy() : nullptr;
    const auto* exact = spec.version ? spec.version->exact() : nullptr;
    if (spec.build) {
        // "name=version=build" has no room for ranges, and the version in it is exact.
        if (spec.version && exact == nullptr && prefix == nullptr) return spec.to_string();
        const auto version = exact != nullptr    ? exact->to_string()
                             : prefix != nullptr ? prefix->to_string() + ".*"
                                                 : std::string("*");
        return fmt::format("{}={}={}", text, version, spec.build->text());
    }
    if (prefix != nullptr) return text + "=" + prefix->to_string();
    if (!spec.version) return text;
    const auto version = spec.version->to_string();
    // "numpy 2.*,>=2.1", where one more character of the name would come of it.
    const bool has_operator = version.find_first_of("<>=!~") == 0;
    return fmt::format("{}{}{}", text, has_operator ? "" : " ", version);
}

std::optional<MatchSpec> with_fuzzy_version(MatchSpec spec) {
    const auto* exact = spec.version ? spec.version->exact() : nullptr;
    if (exact == nullptr) return std::nullopt;
    auto version = VersionSpec::parse("=" + exact->to_string());
    if (!version) return std::nullopt;
    spec.version = *std::move(version);
    return spec;
}

MatchSpec without_checksums(MatchSpec spec) {
    spec.sha256.reset();
    spec.md5.reset();
    return spec;
}

}  // namespace gpkg
