#include "cli/workflow/wishes/earlier_wishes.hpp"

#include "libcore/env/prefix.hpp"

namespace gpkg::cli {

std::vector<MatchSpec> wishes_in(const std::vector<HistoryEntry>& history) {
    std::vector<MatchSpec> specs;
    for (const auto& text : requested_specs(history)) {
        if (auto spec = MatchSpec::parse(text)) specs.push_back(*std::move(spec));
    }
    return specs;
}

std::vector<MatchSpec> wishes_of(const fs::path& path) {
    std::vector<MatchSpec> specs;
    const auto prefix = Prefix::open(path);
    if (!prefix) return specs;
    const auto history = prefix->history();
    if (!history) return specs;
    return wishes_in(*history);
}

}  // namespace gpkg::cli
