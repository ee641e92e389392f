#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {

std::string written(const MatchSpec& spec) {
    MatchSpec plain;
    plain.name = spec.name;
    plain.version = spec.version;
    plain.build = spec.build;
    if (!(plain == spec)) return spec.to_string();
    auto text = spec.name;
    if (spec.version) text += " " + spec.version->to_string();
    if (spec.build) text += (spec.version ? " " : " * ") + spec.build->text();
    return text;
}

std::string subject(const Universe& universe, const std::vector<CandidateId>& ids) {
    if (ids.size() == 1) return universe.describe(ids.front());
    const auto version = [&](CandidateId id) -> const Version& {
        return universe.version(universe.candidates()[id].version);
    };
    const auto [low, high] = std::minmax_element(
        ids.begin(), ids.end(), [&](auto a, auto b) { return version(a) < version(b); });
    const auto& name = universe.names()[universe.candidates()[ids.front()].name].text;
    auto text = fmt::format("{} builds of {} {}", ids.size(), name, version(*low).to_string());
    if (version(*low) != version(*high)) text += " to " + version(*high).to_string();
    return text;
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
