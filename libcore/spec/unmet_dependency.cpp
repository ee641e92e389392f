#include "libcore/spec/unmet_dependency.hpp"

#include "libcore/spec/match_spec.hpp"

#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

std::optional<MatchSpec> asked(const std::string& text) {
    auto spec = MatchSpec::parse(text);
    if (!spec || spec->when) return std::nullopt;
    spec->channel.reset();
    return *std::move(spec);
}

}  // namespace

std::string unmet_dependency(const std::string& depend, const FindRecord& find) {
    const auto spec = asked(depend);
    if (!spec) return {};
    const auto* there = find(spec->name);
    if (there == nullptr) return fmt::format("needs {}, which is missing", depend);
    if (spec->matches(*there)) return {};
    return fmt::format("needs {}, found {} {}", depend, there->version, there->build);
}

std::string broken_restriction(const std::string& restriction, const FindRecord& find) {
    const auto spec = asked(restriction);
    const auto* there = spec ? find(spec->name) : nullptr;
    if (there == nullptr || spec->matches(*there)) return {};
    return fmt::format("allows only {}, found {} {}", restriction, there->version, there->build);
}

}  // namespace gpkg
