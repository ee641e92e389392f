#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {

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

std::string as_typed(const MatchSpec& spec) {
    MatchSpec plain;
    plain.name = spec.name;
    plain.version = spec.version;
    plain.build = spec.build;
    plain.channel = spec.channel;
    if (!(plain == spec)) return spec.to_string();
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
    return spec.version ? text + spec.version->to_string() : text;
}

std::string channel_text(const Problem& problem, const std::string& base_url) {
    const auto is_unique = [&](const std::string& text) {
        return std::all_of(problem.indexes.begin(), problem.indexes.end(), [&](const auto& index) {
            return index->source().channel == base_url ||
                   !channel_matches(text, index->source().channel);
        });
    };
    for (auto slash = base_url.rfind('/'); slash != std::string::npos && slash > 0;
         slash = base_url.rfind('/', slash - 1)) {
        auto text = base_url.substr(slash + 1);
        if (text.starts_with('/')) break;
        if (!text.empty() && channel_matches(text, base_url) && is_unique(text)) return text;
    }
    return base_url;
}

std::vector<std::string> channel_texts(const Problem& problem) {
    std::vector<std::string> texts;
    for (const auto& index : problem.indexes) {
        auto text = channel_text(problem, index->source().channel);
        if (std::find(texts.begin(), texts.end(), text) == texts.end())
            texts.push_back(std::move(text));
    }
    return texts;
}

}  // namespace gpkg::solver
